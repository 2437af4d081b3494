import type { Html } from "../../html/html.ts";
import { html } from "../../html/html.ts";
import { holders } from "../../v1/collections/holders.ts";
import { shareBar } from "../charts/share-bar.ts";
import type { Visit } from "../page/visit.ts";
import { toWallet } from "../parts/links-to.ts";
import { formatCount, formatShare } from "../parts/number.ts";
import { nextPage, panel } from "../parts/panel.ts";
import { table } from "../parts/table.ts";
import { type CollectionRow, filterLink } from "./head.ts";

/** Who holds the collection. */
export async function holdersView(visit: Visit, row: CollectionRow): Promise<Html> {
  const { chainId, read, parameter } = visit;
  const cursor = parameter("cursor");
  const { data, meta } = await read(holders, {
    params: { collection: row.slug ?? row.address },
    query: { chainId: String(chainId), cursor: cursor || undefined, per_page: "50" },
  });
  const supply = BigInt(row.stats.supplyExact);
  const shareOf = (units: string) =>
    supply > 0n ? Number((BigInt(units) * 1_000_000n) / supply) / 1_000_000 : 0;
  const next = meta?.next_cursor ?? null;
  return panel({
    id: "holders",
    title: cursor === "" ? "Top holders" : "Holders",
    about: `${formatCount(meta?.total ?? 0)} holders, most token ids first; burn addresses are left out.`,
    body: html`${table(
      data,
      [
        { head: "Holder", cell: ({ address }) => toWallet(chainId, address), isHead: true },
        { head: "Token ids", cell: ({ tokens }) => formatCount(tokens), isNumber: true },
        { head: "Units", cell: ({ units }) => formatCount(Number(units)), isNumber: true },
        { head: "Of the supply", cell: ({ units }) => formatShare(shareOf(units)), isNumber: true },
        {
          head: html`<span class="unseen">As a bar</span>`,
          cell: ({ units }) => shareBar(shareOf(units)),
          isMinor: true,
        },
      ],
      { caption: "Top holders", empty: "Nobody holds a token." },
    )}${nextPage(next && filterLink(row, { view: "holders", cursor: next }))}`,
  });
}
