import { z } from "zod";
import { pageFields, rowFields } from "#api/http/page.ts";
import { orderHashOf, orderId } from "#api/orders/order-id.ts";
import { bidReasons } from "#projections/domain/orders/order-status.ts";
import { bidKinds } from "#projections/domain/orders/order-terms.ts";
import {
  type BidRow,
  readBestBidsOf,
  readBid,
  readBidPage,
  readBids,
  readHashedBidPage,
} from "#projections/orders/read-bids.ts";
import { readPastBidPage } from "#projections/past/read-past-bids.ts";
import { isSellable, readToken } from "#projections/tokens/read-token.ts";
import type { TokenBidRow } from "#projections/tokens/read-token-details.ts";
import { contractsOfReference, referTo, rejectUnknownCollection } from "../collection-reference.ts";
import { route } from "../context.ts";
import { bidId, bidSort, chainId, chainRefusals, collectionKey, tokenId } from "../parameters.ts";
import {
  bidUrls,
  presentBidUrl,
  presentCollectionUrls,
  presentMakerUrl,
  presentTokenUrls,
} from "../urls.ts";
import { chainIdValue, collectionRef, uint256Text } from "../wire.ts";
import { BidCriteria, presentCriteria } from "./criteria.ts";
import { listOrders, orderFilters, orderListShape, orderPlans } from "./list-orders.ts";
import {
  bids,
  bookOrderFields,
  type OrderViewContext,
  orderNotFound,
  presentBookOrder,
  presentPrice,
} from "./sides.ts";

const bidKind = z.enum(bidKinds);

/** An amount of wrapped native currency for units of one token, or of several of a contract. */
export const Bid = z
  .object({
    bidId: z.string(),
    kind: bidKind,
    ...bookOrderFields,
    tokenId: uint256Text.nullable().meta({
      description: "null: any token of the contract, or those of `criteria`.",
    }),
    criteria: BidCriteria.nullable().meta({
      description: "The tokens of a bid of kind `trait` or `token-list`.",
    }),
    amountWei: uint256Text.meta({ description: "What the bidder pays per unit: `priceWei`." }),
    sellerNetWei: uint256Text.meta({
      description: "What the seller receives per unit, after fee and royalty.",
    }),
    inactiveReason: z
      .enum(bidReasons)
      .nullable()
      .meta({ description: "Why an inactive bid cannot be filled." }),
    urls: bidUrls,
  })
  .meta({ id: "Bid" });

/** The bid with the highest net, as part of a token. */
export const TokenBid = Bid.pick({
  bidId: true,
  kind: true,
  maker: true,
  price: true,
  priceWei: true,
  sellerNetWei: true,
  currency: true,
  usd: true,
  quantityRemaining: true,
  quantityRemainingExact: true,
  expiresAt: true,
}).meta({ id: "TokenBid" });

export function presentBid(
  row: BidRow,
  { siteUrl, prefix }: OrderViewContext,
): z.output<typeof Bid> {
  const site = { siteUrl, chainId: row.chainId };
  const bidId = orderId(prefix, row.orderHash);
  const collection = row.collectionSlug ?? row.collectionAddress;
  return {
    bidId,
    kind: row.kind,
    tokenId: row.tokenId === null ? null : String(row.tokenId),
    criteria: presentCriteria(row),
    amountWei: String(row.unitPriceWei),
    sellerNetWei: String(row.sellerNetWei),
    inactiveReason: row.reason,
    urls: {
      ...(row.tokenId === null
        ? presentCollectionUrls(site, collection)
        : presentTokenUrls(site, collection, row.contract, row.tokenId)),
      bid: presentBidUrl(site, bidId),
      maker: presentMakerUrl(site, row.maker),
    },
    ...presentBookOrder(row),
  };
}

export function presentTokenBid(
  row: TokenBidRow,
  { prefix }: OrderViewContext,
): z.output<typeof TokenBid> {
  return {
    bidId: orderId(prefix, row.orderHash),
    kind: row.kind,
    sellerNetWei: String(row.sellerNetWei),
    ...presentPrice(row),
  };
}

export const listBids = route(
  {
    ...orderListShape,
    method: "get",
    path: "/v1/bids",
    operationId: "listBids",
    tag: "Bids",
    loadClass: "book",
    plansOnceWith: orderPlans,
    summary: "Bids that can be accepted, that are temporarily inactive, or that have ended",
    query: z.object({
      ...orderFilters,
      token_id: tokenId.optional().meta({
        description:
          "Of `collection`: bids on this token, and those on several among which it is (`criteria`), not those on the whole collection (`kind=collection`). Without `collection`: bids on this one id, of every contract of the chain.",
      }),
      kind: bidKind.optional(),
      sort: bidSort.default("price_desc"),
      fields: rowFields(Bid),
      ...pageFields,
    }),
    data: z.array(Bid),
  },
  async ({ query }, context) =>
    listOrders(query, context, {
      list: "bids",
      filter: { kind: query.kind ?? null },
      readPage: readBidPage,
      readPastPage: readPastBidPage,
      isPastKnown: () => true,
      readHashedPage: readHashedBidPage,
      readOrders: readBids,
      present: presentBid,
    }),
);

export const bid = route(
  {
    method: "get",
    path: "/v1/bids/{bidId}",
    operationId: "getBid",
    tag: "Bids",
    loadClass: "book",
    summary: "One bid, in any status",
    params: z.object({ bidId }),
    plansOnceWith: ["chainId"],
    query: z.object({ chainId }),
    data: Bid,
    refuses: { not_found: 404, ...chainRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl, market: { prefix }, now }) => {
    const orderHash = orderHashOf(prefix, params.bidId);
    const row = orderHash && (await readBid(db, query.chainId, orderHash, now()));
    if (row === null) {
      const asked = { chainId: query.chainId, id: params.bidId, orderHash };
      return orderNotFound(bids, asked, db, now);
    }
    return { data: presentBid(row, { siteUrl, prefix }) };
  },
);

const BestBids = z
  .object({
    chainId: chainIdValue,
    collection: collectionRef,
    tokenId: uint256Text,
    best: Bid.nullable().meta({ description: "The one with the higher net for the seller." }),
    itemOffer: Bid.nullable(),
    collectionOffer: Bid.nullable(),
    criteriaOffer: Bid.nullable().meta({
      description: "The best of kind `trait` or `token-list` whose tokens include this one.",
    }),
  })
  .meta({ id: "BestBids" });

export const bestBids = route(
  {
    method: "get",
    path: "/v1/bids/best",
    operationId: "getBestBids",
    tag: "Bids",
    loadClass: "book",
    summary:
      "The bids with the highest net for a token's holder; none for a token that is burned or was never minted",
    query: z.object({ chainId, collection: collectionKey, tokenId }),
    data: BestBids,
    refuses: { not_found: 404, ...chainRefusals },
    isCacheable: true,
  },
  async ({ query }, { db, siteUrl, market: { prefix }, now }) => {
    const chain = query.chainId;
    const collection = await referTo(db, chain, query.collection);
    if (collection === null) return rejectUnknownCollection(chain, query.collection);
    const { tokenId } = query;
    const token = await readToken(db, contractsOfReference(collection), tokenId);
    // Nobody can sell a token that is burned or was never minted.
    const rows =
      token === null || !isSellable(token)
        ? []
        : await readBestBidsOf(db, { contractId: token.contractId, tokenId }, { limit: 1 }, now());
    const bids = rows.map((row) => presentBid(row, { siteUrl, prefix }));
    const { address, slug, name } = collection;
    return {
      data: {
        chainId: chain,
        collection: { address, slug, name },
        tokenId: String(query.tokenId),
        best: bids[0] ?? null,
        itemOffer: bids.find(({ kind }) => kind === "single-token") ?? null,
        collectionOffer: bids.find(({ kind }) => kind === "collection") ?? null,
        criteriaOffer: bids.find(({ criteria }) => criteria !== null) ?? null,
      },
    };
  },
);
