import type { z } from "zod";
import type { Collection } from "#api/v1/collections/collections.ts";
import { chainNames } from "#chains/index.ts";
import { type Html, html } from "../kit/html.ts";
import {
  chainTools,
  collectionLink,
  listingLink,
  pageLink,
  toOutside,
  toWallet,
} from "../kit/links.ts";
import { picture } from "../kit/media.ts";
import { amount, change, coinSymbol, formatCount, formatShare, none } from "../kit/number.ts";
import { figures, tabs } from "../kit/panel.ts";
import { foreignText, nameOr, shortHex } from "../kit/text.ts";

export type ShownCollection = z.output<typeof Collection>;

export const collectionViews = {
  items: "Items",
  prices: "Prices and depth",
  traits: "Traits",
  holders: "Holders",
  activity: "Activity",
} as const;

export type CollectionView = keyof typeof collectionViews;

const maxDescription = 600;

/** Name, links and all statistics of a collection, and the way to its views. */
export const collectionHead = (row: ShownCollection, current: CollectionView): Html =>
  html`${collectionTitle(row)}
${statistics(row, { current })}
${tabs(
  "Views of the collection",
  (Object.keys(collectionViews) as CollectionView[]).map((view) => ({
    href: viewLink(row, view),
    text: collectionViews[view],
    isCurrent: view === current,
  })),
)}`;

/** Name and links. */
export function collectionTitle(row: ShownCollection): Html {
  const { name, slug, address, media, description, verified, standard, chainId, links } = row;
  const outside = [
    toOutside(links.website, "Website"),
    toOutside(links.twitter, "X"),
    toOutside(links.discord, "Discord"),
  ].filter((one) => one !== false);
  return html`<header class="subject">
${picture({ chainId, contract: address, imageUrl: media.imageUrl }, "", "head")}
<div>
<h1>${nameOr(name, slug ?? shortHex(address))}${verified && html` <span class="mark good">verified</span>`}</h1>
<p class="facts"><span>${chainNames[chainId]}</span><span>${standard ?? "unknown standard"}</span>${row.contracts.length > 1 ? html`<span>${row.contracts.length} contracts</span>` : html`<span>${toWallet(chainId, address)} ${chainTools(chainId, { address })}</span>`}${outside}</p>
${description !== null && description !== "" && html`<p class="description">${foreignText(description, maxDescription)}</p>`}
</div>
</header>`;
}

type Key = Pick<ShownCollection, "chainId" | "slug" | "address">;

function viewLink({ chainId, slug, address }: Key, view: CollectionView): string {
  const link = collectionLink(chainId, slug ?? address);
  return view === "items" ? link : `${link}&view=${view}`;
}

/** The path of a collection with other parameters. */
export function filterLink(
  { chainId, slug, address }: Key,
  parameters: Readonly<Record<string, string | readonly string[] | undefined>>,
): string {
  const path = `/collections/${encodeURIComponent(slug ?? address)}`;
  return pageLink(path, { chainId, ...parameters });
}

type Stats = z.output<typeof Collection>["stats"];

const periods = ["24h", "7d", "30d", "all"] as const;

type Shown = { readonly current?: CollectionView; readonly isPast?: boolean };

/** All statistics of a collection: now, or, of a moment, what is known of then. */
export function statistics(
  row: ShownCollection,
  { current = "prices", isPast = false }: Shown = {},
): Html {
  const { chainId, stats, royalty } = row;
  const symbol = coinSymbol(chainId);
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
    ...(isPast ? [] : [royaltyFigure(royalty)]),
  ])}
<div class="panel scroll statistics${current !== "prices" && " elsewhere"}" tabindex="0" role="group" aria-label="Trading by period"><table class="periods"><caption class="unseen">Trading by period</caption>
<thead><tr><th scope="col">Period</th>${periods.map((period) => html`<th scope="col" class="number">${period}</th>`)}</tr></thead>
<tbody>
<tr><th scope="row">Volume</th>${periods.map((period) => html`<td class="number" data-label="${period}">${amount({ wei: stats.volumeWei[period], symbol, usd: stats.volumeUsd[period] ?? null })}</td>`)}</tr>
<tr><th scope="row">Sales</th>${periods.map((period) => html`<td class="number" data-label="${period}">${formatCount(stats.sales[period] ?? 0)}</td>`)}</tr>
${(stats.washSales.all ?? 0) > 0 && washRows(stats, symbol)}${!isPast && changeRow(stats)}
</tbody></table></div>`;
}

function royaltyFigure(royalty: ShownCollection["royalty"]) {
  const has = royalty !== null && royalty.source !== "none";
  return {
    label: "Royalty",
    value: has ? `${royalty.bps / 100}%` : none,
    note: has && html`source: ${royalty.source}`,
  };
}

const changeRow = ({ change: of }: Stats): Html =>
  html`<tr><th scope="row">Floor change</th>${periods.map((period) => html`<td class="number" data-label="${period}">${period === "all" ? none : change(of[period])}</td>`)}</tr>`;

/** Trades that look like those of one person with themselves. */
const washRows = (stats: Stats, symbol: string): Html =>
  html`<tr><th scope="row">Wash volume</th>${periods.map((period) => html`<td class="number" data-label="${period}">${amount({ wei: stats.washVolumeWei[period], symbol })}</td>`)}</tr>
<tr><th scope="row">Wash sales</th>${periods.map((period) => html`<td class="number" data-label="${period}">${formatCount(stats.washSales[period] ?? 0)}</td>`)}</tr>
`;

type Supplied = Pick<z.output<typeof Collection>, "contracts" | "stats">;

/** The part of a collection's token ids that so many are. Null: it has none, or its supply is of units, as with ERC-1155. */
export function shareOfSupply({ contracts, stats }: Supplied, tokenIds: number): number | null {
  const hasUnits = contracts.some(({ standard }) => standard === "erc1155");
  return hasUnits || stats.supply === 0 ? null : tokenIds / stats.supply;
}
