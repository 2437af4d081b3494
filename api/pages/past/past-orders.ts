import { listListings } from "#api/v1/orders/listings.ts";
import { type Html, html } from "../kit/html.ts";
import { bidsTable, listingsTable } from "../kit/orders-table.ts";
import { panel } from "../kit/panel.ts";
import type { Visit } from "../kit/visit.ts";
import { isNotCovered } from "./time-bar.ts";

type ListingsQuery = Readonly<Record<string, string | undefined>> & { readonly at: string };

/**
 * Active listings of a moment. Those of partners are known of the last 30 days alone: of an earlier moment those signed
 * here, with a note that says so.
 */
export async function activeListingsAt(read: Visit["read"], query: ListingsQuery) {
  try {
    return { answer: await read(listListings, { query }), isWithoutPartners: false };
  } catch (error) {
    if (!isNotCovered(error)) throw error;
    const own = { query: { ...query, marketplace: "native" } };
    return { answer: await read(listListings, own), isWithoutPartners: true };
  }
}

const partnersNote =
  " Listings of other marketplaces are known of the last 30 days only: these are those signed here.";

type PastListings = Awaited<ReturnType<typeof activeListingsAt>>;

/** What both panels say of their rows. `below`: how the list goes on. */
type Panel = {
  readonly caption: string;
  readonly without: readonly ("collection" | "maker" | "token")[];
  readonly below: Html | false;
};

/** `count`: before what is said of all of them. */
export function pastListingsPanel(
  { answer, isWithoutPartners }: PastListings,
  { caption, without, below, count = "" }: Panel & { readonly count?: string },
): Html {
  return panel({
    id: "listings",
    title: "Active listings then",
    about: `${count}Nothing can be bought at an earlier moment.${isWithoutPartners ? partnersNote : ""}`,
    body: html`${listingsTable(answer.data, { now: null, caption, without })}${below}`,
  });
}

type PastBids = Parameters<typeof bidsTable>[0];

export const pastBidsPanel = (
  bids: PastBids,
  { title = "Active offers then", caption, without, below }: Panel & { readonly title?: string },
): Html =>
  panel({
    id: "offers",
    title,
    body: html`${bidsTable(bids, { now: null, caption, without })}${below}`,
  });
