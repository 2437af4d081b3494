import { type Html, html } from "#api/pages/kit/html.ts";
import { moment, formatCount } from "#api/pages/kit/number.ts";
import { table } from "#api/pages/kit/panel.ts";
import { foreignText } from "#api/pages/kit/text.ts";
import type { PartnerPasses, PartnerSkips } from "../reads/partners.ts";

/** How far the passes over partners' listings are. */
export const passTable = (passes: readonly PartnerPasses[], time: Date): Html =>
  table(
    passes,
    [
      { head: "Marketplace", cell: ({ marketplace }) => marketplace, isHead: true },
      { head: "Chain", cell: ({ chainId }) => chainId },
      { head: "Listings", cell: ({ listings }) => formatCount(listings), isNumber: true },
      { head: "Contracts", cell: ({ contracts }) => contracts, isNumber: true },
      { head: "Without a full pass", cell: ({ unread }) => unread, isNumber: true },
      { head: "Due", cell: ({ due }) => due, isNumber: true },
      { head: "Newest pass", cell: ({ newestPass }) => moment(newestPass?.toISOString(), time) },
      { head: "Oldest pass", cell: ({ oldestPass }) => moment(oldestPass?.toISOString(), time) },
    ],
    {
      caption: "Passes over partners' listings",
      isCaptionShown: true,
      empty: "No partner is configured, or none was read yet.",
    },
  );

export const skipTable = (skips: readonly PartnerSkips[], time: Date): Html =>
  table(
    skips,
    [
      { head: "Marketplace", cell: ({ marketplace }) => marketplace, isHead: true },
      { head: "Reason", cell: ({ reason }) => reason.replaceAll("_", " ") },
      { head: "Entries", cell: ({ entries }) => entries.toString(), isNumber: true },
      { head: "Last at", cell: ({ lastAt }) => moment(lastAt.toISOString(), time) },
      {
        head: "Last path",
        cell: ({ lastPath }) => html`<code>${foreignText(lastPath, 120)}</code>`,
      },
    ],
    {
      caption: "Entries that were skipped",
      isCaptionShown: true,
      empty: "No entry of a partner was skipped.",
    },
  );
