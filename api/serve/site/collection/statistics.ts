import type { z } from "zod";
import { type Html, html } from "#api/serve/html/html.ts";
import type { Collection } from "#api/serve/views/collection.ts";
import { amount } from "../parts/amount.ts";
import { coinOf } from "../parts/chain.ts";
import { listingLink } from "../parts/links.ts";
import { change, formatCount, formatShare, none } from "../parts/number.ts";
import { figures } from "../parts/panel.ts";
import { shareOfSupply } from "./share-of-supply.ts";

type Stats = z.output<typeof Collection>["stats"];

const periods = ["24h", "7d", "30d", "all"] as const;

/** All statistics of a collection. */
export function statistics(row: z.output<typeof Collection>): Html {
  const { chainId, stats, royalty } = row;
  const symbol = coinOf(chainId);
  const hasRoyalty = royalty !== null && royalty.source !== "none";
  const { floor, floorBuyable, bestOffer } = stats;
  const listedShare = shareOfSupply(row, stats.listed);
  const buyable =
    floorBuyable !== null &&
    floorBuyable.askId !== floor?.askId &&
    html`buyable here from ${amount({ wei: floorBuyable.priceWei, symbol: floorBuyable.currency })}`;
  return html`${figures([
    {
      label: "Floor",
      value:
        floor === null
          ? none
          : html`<a href="${listingLink(chainId, floor.askId)}">${amount({ wei: floor.priceWei, symbol: floor.currency, usd: floor.usd })}</a>`,
      note: buyable,
    },
    {
      label: "Best offer",
      value: amount({ wei: bestOffer?.priceWei, symbol: `W${symbol}` }),
      note:
        bestOffer !== null &&
        html`seller receives ${amount({ wei: bestOffer.sellerNetWei, symbol: `W${symbol}` })}`,
    },
    {
      label: "Listed",
      value: formatCount(stats.listed),
      note: listedShare !== null && html`${formatShare(listedShare)} of the supply`,
    },
    {
      label: "Supply",
      value: html`<data value="${stats.supplyExact}">${formatCount(stats.supply)}</data>`,
    },
    { label: "Holders", value: formatCount(stats.holders) },
    {
      label: "Royalty",
      value: hasRoyalty ? `${royalty.bps / 100}%` : none,
      note: hasRoyalty && html`source: ${royalty.source}`,
    },
  ])}
<div class="panel scroll" tabindex="0" role="group" aria-label="Trading by period"><table class="periods"><caption class="unseen">Trading by period</caption>
<thead><tr><th scope="col">Period</th>${periods.map((period) => html`<th scope="col" class="number">${period}</th>`)}</tr></thead>
<tbody>
<tr><th scope="row">Volume</th>${periods.map((period) => html`<td class="number">${amount({ wei: stats.volumeWei[period], symbol, usd: stats.volumeUsd[period] ?? null })}</td>`)}</tr>
<tr><th scope="row">Sales</th>${periods.map((period) => html`<td class="number">${formatCount(stats.sales[period] ?? 0)}</td>`)}</tr>
${(stats.washSales.all ?? 0) > 0 && washRows(stats, symbol)}<tr><th scope="row">Floor change</th>${periods.map((period) => html`<td class="number">${period === "all" ? none : change(stats.change[period])}</td>`)}</tr>
</tbody></table></div>`;
}

/** Trades that look like those of one person with themselves. */
const washRows = (stats: Stats, symbol: string): Html =>
  html`<tr><th scope="row">Wash volume</th>${periods.map((period) => html`<td class="number">${amount({ wei: stats.washVolumeWei[period], symbol })}</td>`)}</tr>
<tr><th scope="row">Wash sales</th>${periods.map((period) => html`<td class="number">${formatCount(stats.washSales[period] ?? 0)}</td>`)}</tr>
`;
