import type { z } from "zod";
import { collection } from "#api/v1/collections/collections.ts";
import { type BookDepth, depth } from "#api/v1/collections/depth.ts";
import { holders } from "#api/v1/collections/holders.ts";
import { listBids } from "#api/v1/orders/bids.ts";
import { type Html, html } from "../kit/html.ts";
import { amount, formatCount } from "../kit/number.ts";
import { cutNote, figures, nextPage, panel, table, tabs } from "../kit/panel.ts";
import type { Visit } from "../kit/visit.ts";
import { activeListingsAt, pastBidsPanel, pastListingsPanel } from "../past/past-orders.ts";
import { askedMoment, type PastPoint, partThen, pastView, timeBar } from "../past/time-bar.ts";
import { depthChart } from "./depth-chart.ts";
import {
  type CollectionView,
  collectionTitle,
  filterLink,
  type ShownCollection,
  statistics,
} from "./head.ts";
import { holderColumns } from "./holders.ts";
import { traitsAt } from "./traits.ts";

type View = (
  visit: Visit,
  row: ShownCollection,
  at: string,
) => Promise<{ readonly body: Html; readonly point: PastPoint | null }>;

/** What is known of a collection's past: by the names of today's views. */
const views = {
  items: ["Listings and offers", ordersAt],
  prices: ["Order book", bookAt],
  traits: ["Traits", traitsAt],
  holders: ["Holders", holdersAt],
} as const satisfies Partial<Record<CollectionView, readonly [string, View]>>;

const left =
  "Name, picture and traits of tokens are those of today. Items and activity are not shown of a moment.";

/** A collection as it was: its figures, its orders, the book by price, floors of traits, and its holders. */
export async function pastCollection(visit: Visit, row: ShownCollection, asked: CollectionView) {
  const at = askedMoment(visit);
  const view = Object.hasOwn(views, asked) ? (asked as keyof typeof views) : "items";
  const [, make] = views[view];
  const unknown = "It did not exist then.";
  const { body, point, status } = await pastView(async () => {
    const [shown, then] = await Promise.all([make(visit, row, at), figuresAt(visit, row, at)]);
    const above = then === null ? untold : figuresThen(then, view);
    return { ...shown, body: html`${above}${shown.body}` };
  }, unknown);
  const bar = { parameters: { view }, point, left, hasSteps: view !== "holders" };
  return {
    status,
    body: html`${collectionTitle(row)}
${timeBar(visit, bar)}
${tabs(
  "Views of the collection then",
  Object.entries(views).map(([name, [text]]) => ({
    href: filterLink(row, { view: name, at }),
    text,
    isCurrent: name === view,
  })),
)}
${body}`,
  };
}

const untold = html`<p class="about">Its figures of then cannot be told: too much happened since.</p>`;

const figuresAt = ({ chainId, read }: Visit, { slug, address }: ShownCollection, at: string) =>
  partThen(
    read(collection, {
      params: { collection: slug ?? address },
      query: { chainId: String(chainId), at },
    }),
  );

const ownAlone = html`<p class="about">Listings of other marketplaces are known of the last 30 days only: floors, the book and what was listed are of those signed here.</p>`;

type Figures = Exclude<Awaited<ReturnType<typeof figuresAt>>, null>;

const figuresThen = ({ data, meta }: Figures, view: CollectionView) =>
  html`${statistics(data, {
    ...{ current: view, isPast: true },
  })}${meta?.at?.partnersFrom !== undefined && ownAlone}`;

const perPage = 50;

async function ordersAt({ chainId, read, parameter }: Visit, row: ShownCollection, at: string) {
  const cursor = parameter("cursor");
  const own = { chainId: String(chainId), collection: row.slug ?? row.address, at };
  const [listings, bids] = await Promise.all([
    activeListingsAt(read, { ...own, cursor: cursor || undefined, per_page: String(perPage) }),
    cursor === "" ? read(listBids, { query: { ...own, per_page: "20" } }) : null,
  ]);
  const { meta } = listings.answer;
  const next = meta?.next_cursor ?? null;
  const more = next && filterLink(row, { view: "items", at, cursor: next });
  const without = ["collection"] as const;
  const body = html`${pastListingsPanel(listings, {
    ...{ caption: "Listings then, cheapest first", without, below: nextPage(more) },
    count: `${formatCount(meta?.total ?? 0)}, cheapest first. `,
  })}
${
  bids !== null &&
  pastBidsPanel(bids.data, {
    ...{ caption: "Offers then, highest first", without },
    below: cutNote({ which: "first", shown: bids.data.length, total: bids.meta?.total }),
  })
}`;
  return { body, point: meta?.at ?? null };
}

async function bookAt({ chainId, read }: Visit, row: ShownCollection, at: string) {
  const params = { collection: row.slug ?? row.address };
  const { data, meta } = await read(depth, { params, query: { chainId: String(chainId), at } });
  const { listings, bids } = data;
  const isCut = listings.truncated || bids.truncated;
  const body = html`${spreadOf(data)}
${panel({
  id: "depth",
  title: "Depth then",
  about: html`What could be bought and sold at that moment, price by price.${isCut && " Only the best prices are drawn; there were more beyond."}`,
  body: depthChart(data),
})}`;
  return { body, point: meta?.at ?? null };
}

/** What lay between floor and best bid. */
function spreadOf({ listings, bids, currency }: z.output<typeof BookDepth>): Html | false {
  const { symbol } = currency;
  const [ask, bid] = [listings.levels[0], bids.levels[0]];
  if (ask === undefined || bid === undefined) return false;
  const spread = BigInt(ask.priceWei) - BigInt(bid.priceWei);
  const note = spread < 0n && html`they crossed`;
  const value = amount({ wei: String(spread), symbol });
  return figures([{ label: "Between floor and best offer", value, note }]);
}

async function holdersAt({ chainId, read, parameter }: Visit, row: ShownCollection, at: string) {
  const cursor = parameter("cursor") || undefined;
  const { data, meta } = await read(holders, {
    params: { collection: row.slug ?? row.address },
    query: { chainId: String(chainId), at, cursor, per_page: String(perPage) },
  });
  const next = meta?.next_cursor ?? null;
  const more = next && filterLink(row, { view: "holders", at, cursor: next });
  const body = panel({
    id: "holders",
    title: cursor === undefined ? "Top holders then" : "Holders then",
    about: `${formatCount(meta?.total ?? 0)} holders, most token ids first; burn addresses are left out.`,
    body: html`${table(data, holderColumns(chainId), { caption: "Holders then", empty: "Nobody held a token." })}${nextPage(more)}`,
  });
  return { body, point: meta?.at ?? null };
}
