import { type Html, html } from "#api/serve/html/html.ts";
import { collection } from "#api/serve/v1/collections/collection.ts";
import type { LiveFilter, PageContent, Visit } from "../page/visit.ts";
import { chosenKind } from "../parts/activity-table.ts";
import { plainText } from "../parts/text.ts";
import { activityView } from "./activity.ts";
import { type CollectionRow, collectionHead, type View, views } from "./head.ts";
import { holdersView } from "./holders.ts";
import { itemsView } from "./items.ts";
import { pricesView } from "./prices.ts";
import { traitsView } from "./traits.ts";
import { uncoveredPage } from "./uncovered.ts";

/** Leaves a title room for the view. */
const maxName = 80;

const bodies: Record<View, (visit: Visit, row: CollectionRow) => Promise<Html>> = {
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

async function coveredPage(visit: Visit): Promise<PageContent> {
  const { chainId, key, parameter, read } = visit;
  const { data: row } = await read(collection, {
    params: { collection: key("collection") },
    query: { chainId: String(chainId) },
  });
  const asked = parameter("view");
  const view: View = Object.hasOwn(views, asked) ? (asked as View) : "items";
  const body = html`${collectionHead(row, view)}${await bodies[view](visit, row)}`;
  return {
    title: `${plainText(row.name ?? row.slug ?? row.address, maxName)} · ${views[view]}`,
    description: row.description,
    body,
    live: liveOf(row, chosenKind(parameter("type"))),
  };
}

/** The stream has events of one contract or of all; of several the page picks its own. */
function liveOf({ contracts }: CollectionRow, type: string): LiveFilter {
  const addresses = contracts.map(({ address }) => address);
  const [only, ...others] = addresses;
  const kinds = type === "" ? {} : { type };
  if (only === undefined || others.length > 0) return { ...kinds, contracts: addresses };
  return { ...kinds, collection: only };
}
