import type { z } from "zod";
import { chainNames } from "#chains/index.ts";
import { type Html, html } from "#api/serve/html/html.ts";
import type { Collection } from "#api/serve/views/collection.ts";
import { collectionLink, pageLink } from "../parts/links.ts";
import { toOutside, toWallet } from "../parts/links-to.ts";
import { picture } from "../parts/media.ts";
import { tabs } from "../parts/panel.ts";
import { foreignText, nameOr, shortHex } from "../parts/text.ts";
import { statistics } from "./statistics.ts";

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
