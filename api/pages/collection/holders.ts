import type { z } from "zod";
import {
  type Holder,
  type HolderDistribution,
  holderDistribution,
  holders,
} from "#api/v1/collections/holders.ts";
import type { ChainId } from "#chains/index.ts";
import { type Html, html } from "../kit/html.ts";
import { toWallet } from "../kit/links.ts";
import { formatCount, formatShare } from "../kit/number.ts";
import { nextPage, panel, type TableColumn, table } from "../kit/panel.ts";
import { shareBar } from "../kit/plot.ts";
import type { Visit } from "../kit/visit.ts";
import { filterLink, type ShownCollection } from "./head.ts";

type HolderRow = z.output<typeof Holder>;

/** Who holds the collection. */
export async function holdersView(visit: Visit, row: ShownCollection): Promise<Html> {
  const { chainId, read, parameter } = visit;
  const cursor = parameter("cursor");
  const params = { collection: row.slug ?? row.address };
  const query = { chainId: String(chainId) };
  const [{ data, meta }, distribution] = await Promise.all([
    read(holders, { params, query: { ...query, cursor: cursor || undefined, per_page: "50" } }),
    cursor === "" ? read(holderDistribution, { params, query }) : null,
  ]);
  const supply = BigInt(row.stats.supplyExact);
  const shareOf = ({ units }: HolderRow) =>
    supply > 0n ? Number((BigInt(units) * 1_000_000n) / supply) / 1_000_000 : 0;
  const next = meta?.next_cursor ?? null;
  return html`${distribution !== null && distributionPanel(distribution.data)}${panel({
    id: "holders",
    title: cursor === "" ? "Top holders" : "Holders",
    about: `${formatCount(meta?.total ?? 0)} holders, most token ids first; burn addresses are left out.`,
    body: html`${table(
      data,
      [
        ...holderColumns(chainId),
        { head: "Of the supply", cell: (one) => formatShare(shareOf(one)), isNumber: true },
        {
          head: html`<span class="unseen">As a bar</span>`,
          cell: (one) => shareBar(shareOf(one)),
          isMinor: true,
        },
      ],
      { caption: "Top holders", empty: "Nobody holds a token." },
    )}${nextPage(next && filterLink(row, { view: "holders", cursor: next }))}`,
  })}`;
}

export const holderColumns = (chainId: ChainId): TableColumn<HolderRow>[] => [
  { head: "Holder", cell: ({ address }) => toWallet(chainId, address), isHead: true },
  { head: "Token ids", cell: ({ tokens }) => formatCount(tokens), isNumber: true },
  { head: "Units", cell: ({ units }) => formatCount(Number(units)), isNumber: true },
];

type Distribution = z.output<typeof HolderDistribution>;

/** How many hold how much, as bars. */
function distributionPanel({ groups, holders: all, tokens }: Distribution): Html {
  const ofHolders = (count: number) => (all === 0 ? 0 : count / all);
  const ofTokens = (count: string) => (tokens === "0" ? 0 : Number(count) / Number(tokens));
  return panel({
    id: "distribution",
    title: "Distribution",
    body: table(
      groups,
      [
        { head: "Token ids held", cell: ({ from, to }) => rangeOf(from, to), isHead: true },
        { head: "Holders", cell: (one) => formatCount(one.holders), isNumber: true },
        {
          head: "Of the holders",
          cell: (one) =>
            html`${formatShare(ofHolders(one.holders))} ${shareBar(ofHolders(one.holders))}`,
          isNumber: true,
        },
        { head: "Token ids", cell: (one) => formatCount(Number(one.tokens)), isNumber: true },
        {
          head: "Of the token ids",
          cell: (one) =>
            html`${formatShare(ofTokens(one.tokens))} ${shareBar(ofTokens(one.tokens))}`,
          isNumber: true,
        },
      ],
      { caption: "Holders by token ids held", keyOf: ({ from }) => `${from}` },
    ),
  });
}

function rangeOf(from: number, to: number | null): string {
  if (to === null) return `${from} and more`;
  return from === to ? `${from}` : `${from} to ${to}`;
}
