import type { z } from "zod";
import { type Html, html } from "../../html/html.ts";
import type { Collection } from "../../views/collection.ts";
import { amount } from "../parts/amount.ts";
import { chainNames, coinOf } from "../parts/chain.ts";
import { collectionLink, listingLink, pageLink } from "../parts/links.ts";
import { toOutside, toWallet } from "../parts/links-to.ts";
import { picture } from "../parts/media.ts";
import { change, formatCount, formatShare, none } from "../parts/number.ts";
import { figures, tabs } from "../parts/panel.ts";
import { foreignText, nameOr, shortHex } from "../parts/text.ts";

export type CollectionRow = z.output<typeof Collection>;

export const views = {
  items: "Items",
  prices: "Prices and depth",
  traits: "Traits",
  holders: "Holders",
  activity: "Activity",
} as const;

export type View = keyof typeof views;

const maxDescription = 600;

/** Name, links and all statistics of a collection, and the way to its views. */
export function collectionHead(row: CollectionRow, current: View): Html {
  const { name, slug, address, media, description, verified, standard, chainId, links } = row;
  const outside = [
    toOutside(links.website, "Website"),
    toOutside(links.twitter, "X"),
    toOutside(links.discord, "Discord"),
  ].filter((one) => one !== false);
  return html`<header class="subject">
${picture(media.imageUrl, "", 96)}
<div>
<h1>${nameOr(name, slug ?? shortHex(address))}${verified && html` <span class="mark good">verified</span>`}</h1>
<p class="facts"><span>${chainNames[chainId]}</span><span>${standard ?? "unknown standard"}</span>${row.contracts.length > 1 ? html`<span>${row.contracts.length} contracts</span>` : toWallet(chainId, address)}${outside}</p>
${description !== null && description !== "" && html`<p class="description">${foreignText(description, maxDescription)}</p>`}
</div>
</header>
${statistics(row)}
${tabs(
  "Views of the collection",
  (Object.keys(views) as View[]).map((view) => ({
    href: viewLink(row, view),
    text: views[view],
    isCurrent: view === current,
  })),
)}`;
}

type Key = Pick<CollectionRow, "chainId" | "slug" | "address">;

function viewLink({ chainId, slug, address }: Key, view: View): string {
  const link = collectionLink(chainId, slug ?? address);
  return view === "items" ? link : `${link}&view=${view}`;
}

/** The path of a collection with other parameters. */
export function filterLink(
  { chainId, slug, address }: Key,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const path = `/collections/${encodeURIComponent(slug ?? address)}`;
  return pageLink(path, { chainId, ...parameters });
}

const periods = ["24h", "7d", "30d", "all"] as const;

function statistics({ chainId, stats, royalty }: CollectionRow): Html {
  const symbol = coinOf(chainId);
  const { floor, floorBuyable, bestOffer } = stats;
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
      note: stats.supply > 0 && html`${formatShare(stats.listed / stats.supply)} of the supply`,
    },
    {
      label: "Supply",
      value: html`<data value="${stats.supplyExact}">${formatCount(stats.supply)}</data>`,
    },
    { label: "Holders", value: formatCount(stats.holders) },
    {
      label: "Royalty",
      value: royalty === null ? none : `${royalty.bps / 100}%`,
      note: royalty !== null && html`source: ${royalty.source}`,
    },
  ])}
<div class="scroll" tabindex="0" role="group" aria-label="Trading by period"><table class="periods"><caption class="unseen">Trading by period</caption>
<thead><tr><th scope="col">Period</th>${periods.map((period) => html`<th scope="col" class="number">${period}</th>`)}</tr></thead>
<tbody>
<tr><th scope="row">Volume</th>${periods.map((period) => html`<td class="number">${amount({ wei: stats.volumeWei[period], symbol, usd: stats.volumeUsd[period] ?? null })}</td>`)}</tr>
<tr><th scope="row">Sales</th>${periods.map((period) => html`<td class="number">${formatCount(stats.sales[period] ?? 0)}</td>`)}</tr>
<tr><th scope="row">Floor change</th>${periods.map((period) => html`<td class="number">${period === "all" ? none : change(stats.change[period])}</td>`)}</tr>
</tbody></table></div>`;
}
