import { listActivity } from "#api/v1/activity.ts";
import { collection } from "#api/v1/collections/collections.ts";
import { listSales } from "#api/v1/sales.ts";
import { chainNames } from "#chains/index.ts";
import { activityKinds, activityTable, chosenKind, liveSwitch } from "../kit/activity-table.ts";
import { type Html, html } from "../kit/html.ts";
import { collectionLink } from "../kit/links.ts";
import { counted, formatCount } from "../kit/number.ts";
import { cutNote, nextPage, panel, tabs } from "../kit/panel.ts";
import { amountLine, type Card, type Preview } from "../kit/preview.ts";
import { salesTable } from "../kit/sales-table.ts";
import { plainText, shortHex, shortId } from "../kit/text.ts";
import {
  type CardOf,
  type LiveFilter,
  type PageContent,
  RefusedRead,
  type Visit,
} from "../kit/visit.ts";
import { askedMoment, timeBar } from "../past/time-bar.ts";
import {
  type CollectionView,
  collectionHead,
  collectionViews,
  filterLink,
  type ShownCollection,
} from "./head.ts";
import { holdersView } from "./holders.ts";
import { itemsView } from "./items.ts";
import { pastCollection } from "./past-collection.ts";
import { pricesView } from "./prices.ts";
import { traitsView } from "./traits.ts";

/** What happened to a collection's tokens and orders, live. */
async function activityView(visit: Visit, row: ShownCollection): Promise<Html> {
  const { chainId, read, parameter, now } = visit;
  const type = chosenKind(parameter("type"));
  const cursor = parameter("cursor");
  const { data, meta } = await read(listActivity, {
    query: {
      chainId: String(chainId),
      collection: row.slug ?? row.address,
      type: type || undefined,
      cursor: cursor || undefined,
      per_page: "50",
    },
  });
  const next = meta?.next_cursor ?? null;
  return panel({
    id: "activity",
    title: "Activity",
    aside: cursor === "" && liveSwitch,
    body: html`${tabs(
      "Kinds of activity",
      activityKinds.map(([value, text]) => ({
        href: filterLink(row, { view: "activity", type: value }),
        text,
        isCurrent: value === type,
      })),
    )}${activityTable(data, { now, caption: "Activity", without: ["collection"], isLive: cursor === "" })}${nextPage(
      next && filterLink(row, { view: "activity", type, cursor: next }),
    )}`,
  });
}

/** Leaves a title room for the view. */
const maxName = 80;

const bodies: Record<CollectionView, (visit: Visit, row: ShownCollection) => Promise<Html>> = {
  items: itemsView,
  prices: pricesView,
  traits: traitsView,
  holders: holdersView,
  activity: activityView,
};

/** A collection: its statistics, and one of the views of it. */
export function collectionPage(visit: Visit): Promise<PageContent> {
  return coveredPage(visit).catch((error: unknown) => uncoveredPage(visit, error));
}

async function readCollection({
  chainId,
  key,
  read,
}: Parameters<CardOf>[0]): Promise<ShownCollection> {
  const params = { collection: key("collection") };
  return (await read(collection, { params, query: { chainId: String(chainId) } })).data;
}

const titleOf = ({ name, slug, address }: ShownCollection): string =>
  plainText(name ?? slug ?? address, maxName);

export const collectionCard: CardOf = async (visit) => cardOf(await readCollection(visit));

async function coveredPage(visit: Visit): Promise<PageContent> {
  const { chainId, parameter } = visit;
  const row = await readCollection(visit);
  const asked = parameter("view");
  const view: CollectionView = Object.hasOwn(collectionViews, asked)
    ? (asked as CollectionView)
    : "items";
  const title = titleOf(row);
  if (askedMoment(visit) !== "") {
    const past = await pastCollection(visit, row, view);
    const preview = { canonical: collectionLink(chainId, row.slug ?? row.address) };
    return { ...past, title: `${title} · as it was`, preview, isUnlisted: true };
  }
  const bar = timeBar(visit, { parameters: { view }, hasSteps: view === "prices" });
  const body = html`${collectionHead(row, view)}${bar}${await bodies[view](visit, row)}`;
  return {
    title: `${title} · ${collectionViews[view]}`,
    description: row.description,
    preview: previewOf(visit, row, view),
    body,
    live: liveOf(row, chosenKind(parameter("type"))),
  };
}

/** An address is of one contract alone, where the collection has several. */
function previewOf({ chainId, key }: Visit, row: ShownCollection, view: CollectionView): Preview {
  const { slug, address, contracts } = row;
  const isWhole = contracts.length === 1 || key("collection") === slug;
  const named = isWhole ? (slug ?? address) : key("collection").toLowerCase();
  const path = collectionLink(chainId, named);
  return {
    canonical: view === "items" ? path : `${path}&view=${view}`,
    card: cardOf(row),
  };
}

function cardOf(row: ShownCollection): Card {
  const { chainId, address, stats, media } = row;
  return {
    name: titleOf(row),
    about: counted(stats.supply, "item"),
    image: { chainId, contract: address, imageUrl: media.imageUrl },
    figures: [
      amountLine(stats.floor?.priceWei, stats.floor?.currency ?? null, "Floor "),
      `${formatCount(stats.listed)} listed`,
      counted(stats.holders, "holder"),
    ].filter((one) => one !== null),
  };
}

/** The stream has events of one contract or of all; of several the page picks its own. */
function liveOf({ contracts }: ShownCollection, type: string): LiveFilter {
  const addresses = contracts.map(({ address }) => address);
  const [only, ...others] = addresses;
  const kinds = type === "" ? {} : { type };
  if (only === undefined || others.length > 0) return { ...kinds, contracts: addresses };
  return { ...kinds, collection: only };
}

/**
 * What is known of a contract that is not covered, or of a token of it: its sales. For who follows the link of a sale;
 * what was `refused` is refused where there are none.
 */
export async function uncoveredPage(visit: Visit, refused: unknown): Promise<PageContent> {
  if (!(refused instanceof RefusedRead && refused.status === 404)) throw refused;
  const { chainId, key, read, now } = visit;
  const [contract, tokenId] = [key("collection"), key("tokenId")];
  if (!/^0x[0-9a-f]{40}$/i.test(contract)) throw refused;
  const own = { collection: contract, ...(tokenId !== "" && { token_id: tokenId }) };
  const query = { chainId: String(chainId), ...own, per_page: "50" };
  const { data, meta } = await read(listSales, { query });
  const isCovered = data[0] === undefined || data[0].collection.slug !== null;
  if (isCovered) throw refused;
  const name = tokenId === "" ? shortHex(contract) : `#${shortId(tokenId)}`;
  const body = html`<header class="token-head"><p class="facts"><span>${chainNames[chainId]}</span><span title="${contract}">${shortHex(contract)}</span></p>
<h1>${name}</h1>
<p class="description">This contract is not covered here: owners, names, pictures and listings of its tokens are not followed. Its sales are.</p></header>
${panel({
  id: "sales",
  title: "Sales",
  body: html`${salesTable(data, { now, caption: "Sales, newest first", without: ["collection"] })}${cutNote({ which: "newest", shown: data.length, total: meta?.total })}`,
})}`;
  return { title: `${name} · not covered`, body };
}
