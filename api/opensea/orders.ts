import type { Hex } from "viem";
import { z } from "zod";
import { listingViewOf } from "#api/v1/orders/sides.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { readBid } from "#projections/orders/read-bids.ts";
import { readListing } from "#projections/orders/read-listings.ts";
import { listingId, orderId } from "../orders/order-id.ts";
import { bestBids, listBids, presentBid } from "../v1/orders/bids.ts";
import { listListings, presentListing } from "../v1/orders/listings.ts";
import { presentOrders } from "./present-order.ts";
import {
  askBook,
  type OpenSeaContext,
  openSeaPage,
  openSeaRefusals,
  openSeaRoute,
} from "./route.ts";

const fields = z.record(z.string(), z.unknown());
const shared = {
  method: "get",
  tag: "OpenSea",
  loadClass: "book",
  data: fields,
  refuses: openSeaRefusals,
} as const;

const pageQuery = openSeaPage(100);
/** Private listings are not taken here. */
const listQuery = z.object({ ...pageQuery, include_private_listings: z.string().optional() });
const slug = z.object({ slug: z.string() });
const tokenOfSlug = z.object({ slug: z.string(), identifier: z.string() });

type ListAsked = {
  readonly collection: string;
  readonly token_id?: string;
  readonly per_page: string;
  readonly cursor?: string | undefined;
};

async function listingsOf(query: ListAsked, sort: string, context: OpenSeaContext) {
  const page = await askBook(listListings, { query: { ...query, sort } }, context);
  if (isRejection(page)) return page;
  const listings = await presentOrders(context.db, context.chainId, "listing", page.data);
  return { listings, next: page.meta?.next_cursor ?? null };
}

const listingList = (name: "all" | "best") =>
  openSeaRoute(
    {
      ...shared,
      path: `/api/v2/listings/collection/{slug}/${name}`,
      operationId: `listOpenSeaListings${name === "all" ? "" : "ByPrice"}`,
      summary: "Active listings of a collection, of every marketplace followed",
      params: slug,
      query: listQuery,
    },
    async ({ params, query }, context) => {
      const { limit, next } = query;
      const asked = { collection: params.slug, per_page: limit, cursor: next };
      const sort = name === "all" ? "created_at" : "price_asc";
      const data = await listingsOf(asked, sort, context);
      return isRejection(data) ? data : { data };
    },
  );
export const allListings = listingList("all");
export const bestListings = listingList("best");

export const bestListing = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/listings/collection/{slug}/nfts/{identifier}/best",
    operationId: "getOpenSeaBestListing",
    summary: "The cheapest listing of a token",
    params: tokenOfSlug,
    query: z.object({ include_private_listings: z.string().optional() }),
  },
  async ({ params: { slug: collection, identifier } }, context) => {
    const asked = { collection, token_id: identifier, per_page: "1" };
    const found = await listingsOf(asked, "price_asc", context);
    if (isRejection(found)) return found;
    const [first] = found.listings;
    return first === undefined ? nothing("listing", identifier) : { data: first };
  },
);

export const allOffers = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/offers/collection/{slug}/all",
    operationId: "listOpenSeaOffers",
    summary: "Active offers for a collection and its tokens",
    params: slug,
    query: z.object(pageQuery),
  },
  async ({ params, query: { limit, next } }, context) => {
    const query = { collection: params.slug, per_page: limit, cursor: next, sort: "price_desc" };
    const page = await askBook(listBids, { query }, context);
    if (isRejection(page)) return page;
    const offers = await presentOrders(context.db, context.chainId, "offer", page.data);
    return { data: { offers, next: page.meta?.next_cursor ?? null } };
  },
);

export const bestOffer = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/offers/collection/{slug}/nfts/{identifier}/best",
    operationId: "getOpenSeaBestOffer",
    summary: "The offer that nets most for a token, also of those for its collection",
    params: tokenOfSlug,
  },
  async ({ params: { slug: collection, identifier } }, context) => {
    const found = await askBook(bestBids, { query: { collection, tokenId: identifier } }, context);
    if (isRejection(found)) return found;
    const rows = found.data.best === null ? [] : [found.data.best];
    const [first] = await presentOrders(context.db, context.chainId, "offer", rows);
    return first === undefined ? nothing("offer", identifier) : { data: first };
  },
);

const nothing = (noun: string, identifier: string) =>
  reject("not_found", `There is no ${noun} for token ${identifier}`);

export const orderByHash = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/orders/chain/{chain}/protocol/{protocol}/{hash}",
    operationId: "getOpenSeaOrder",
    summary: "A listing or an offer, in any status",
    params: z.object({ chain: z.string(), protocol: z.string(), hash: z.string() }),
  },
  async ({ params }, context) => {
    const { db, chainId, now, siteUrl, market } = context;
    const hash = params.hash.toLowerCase() as Hex;
    const view = await listingViewOf({ siteUrl, market });
    const listing = await orderRow(hash, (one) => readListing(db, chainId, one, now()));
    const bid = await orderRow(hash, (one) => readBid(db, chainId, one, now()));
    const listings = listing === null ? [] : [presentListing(listing, view)];
    const offers = bid === null ? [] : [presentBid(bid, view)];
    const [order] = [
      ...(await presentOrders(db, chainId, "listing", listings)),
      ...(await presentOrders(db, chainId, "offer", offers)),
    ];
    return order === undefined
      ? reject("not_found", `No order ${params.hash} on chain ${chainId}`)
      : { data: { order } };
  },
);

/** What is no hash is not looked for. */
const orderRow = async <Row>(hash: Hex, read: (hash: Hex) => Promise<Row | null>) =>
  /^0x[0-9a-f]{64}$/.test(hash) ? read(hash) : null;

/** The id here of an order that the original names by its hash; null: there is none. */
export async function idOfHash(
  side: "listing" | "offer",
  given: string,
  { db, chainId, market: { prefix }, now }: OpenSeaContext,
): Promise<string | null> {
  const hash = given.toLowerCase() as Hex;
  if (side === "offer") return /^0x[0-9a-f]{64}$/.test(hash) ? orderId(prefix, hash) : null;
  const row = await orderRow(hash, (one) => readListing(db, chainId, one, now()));
  return row === null ? null : listingId(prefix, row);
}
