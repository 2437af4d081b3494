import { z } from "zod";
import { pageFields, rowFields } from "#api/http/page.ts";
import { listingId, listingOf } from "#api/orders/order-id.ts";
import { listingMarketplaces } from "#projections/domain/marketplaces.ts";
import { listingReasons } from "#projections/domain/orders/order-status.ts";
import {
  type ListingRow,
  readHashedListingPage,
  readListing,
  readListingPage,
  readListings,
} from "#projections/orders/read-listings.ts";
import { isListingPastKnown, readPastListingPage } from "#projections/past/read-past-listings.ts";
import type { TokenListingRow } from "#projections/tokens/read-token-details.ts";
import { route } from "../context.ts";
import {
  askId,
  chainId,
  chainRefusals,
  marketplace,
  nativeAmount,
  orderSort,
  traitFilter,
} from "../parameters.ts";
import { listingUrls, presentListingUrl, presentMakerUrl, presentTokenUrls } from "../urls.ts";
import { exactUnits, uint256Text } from "../wire.ts";
import { listOrders, orderFilters, orderListShape, orderPlans } from "./list-orders.ts";
import {
  asks,
  bookOrderFields,
  isBuyableHere,
  type ListingViewContext,
  listingViewOf,
  orderNotFound,
  presentBookOrder,
  presentPrice,
  timeOf,
} from "./sides.ts";

/** Units of one token that their owner offers for a price. */
export const Listing = z
  .object({
    askId: z.string(),
    marketplace: z.enum(listingMarketplaces),
    buyableViaApi: z.boolean().meta({ description: "Whether `buy-data` is available for it now." }),
    ...bookOrderFields,
    tokenId: uint256Text,
    quantityFillable: z.int().min(0).meta({ description: "Remaining units that the maker holds." }),
    quantityFillableExact: exactUnits,
    invalidReason: z
      .enum(listingReasons)
      .nullable()
      .meta({ description: "Why an inactive listing cannot be filled." }),
    urls: listingUrls,
  })
  .meta({ id: "Listing" });

/** The cheapest listing, as part of a token. */
export const TokenListing = Listing.pick({
  askId: true,
  marketplace: true,
  buyableViaApi: true,
  maker: true,
  price: true,
  priceWei: true,
  currency: true,
  usd: true,
  quantityRemaining: true,
  quantityRemainingExact: true,
  quantityFillable: true,
  quantityFillableExact: true,
  startsAt: true,
  expiresAt: true,
}).meta({ id: "TokenListing" });

export function presentListing(
  row: ListingRow,
  view: ListingViewContext,
): z.output<typeof Listing> {
  const { siteUrl, prefix } = view;
  const site = { siteUrl, chainId: row.chainId };
  const askId = listingId(prefix, row);
  const collection = row.collectionSlug ?? row.collectionAddress;
  return {
    askId,
    marketplace: row.marketplace,
    buyableViaApi: row.status === "active" && isBuyableHere(row, view),
    tokenId: String(row.tokenId),
    quantityFillable: Number(row.fillable),
    quantityFillableExact: String(row.fillable),
    invalidReason: row.reason,
    urls: {
      listing: presentListingUrl(site, askId),
      maker: presentMakerUrl(site, row.maker),
      ...presentTokenUrls(site, collection, row.contract, row.tokenId),
    },
    ...presentBookOrder(row),
  };
}

export function presentTokenListing(
  row: TokenListingRow,
  view: ListingViewContext,
): z.output<typeof TokenListing> {
  return {
    askId: listingId(view.prefix, row),
    marketplace: row.marketplace,
    buyableViaApi: isBuyableHere(row, view),
    quantityFillable: Number(row.fillable),
    quantityFillableExact: String(row.fillable),
    startsAt: timeOf(row.startTime),
    ...presentPrice(row),
  };
}

export const listListings = route(
  {
    ...orderListShape,
    method: "get",
    path: "/v1/listings",
    operationId: "listListings",
    tag: "Listings",
    loadClass: "book",
    plansOnceWith: orderPlans,
    summary: "Listings that can be bought, that are temporarily inactive, or that have ended",
    query: z.object({
      ...orderFilters,
      min_price: nativeAmount("up").optional(),
      max_price: nativeAmount("down").optional(),
      sort: orderSort.default("price_asc"),
      marketplace,
      traits: traitFilter("traits", { more: "Needs `collection`. " }).optional(),
      fields: rowFields(Listing),
      ...pageFields,
    }),
    data: z.array(Listing),
  },
  async ({ query }, context) =>
    listOrders(query, context, {
      list: "listings",
      filter: {
        marketplace: query.marketplace,
        minPriceWei: query.min_price ?? null,
        maxPriceWei: query.max_price ?? null,
      },
      readPage: readListingPage,
      readPastPage: readPastListingPage,
      isPastKnown: (moment, now) => isListingPastKnown(query, moment, now),
      readHashedPage: readHashedListingPage,
      readOrders: readListings,
      present: presentListing,
    }),
);

export const listing = route(
  {
    method: "get",
    path: "/v1/listings/{askId}",
    operationId: "getListing",
    tag: "Listings",
    loadClass: "book",
    summary: "One listing, in any status",
    params: z.object({ askId }),
    plansOnceWith: ["chainId"],
    query: z.object({ chainId }),
    data: Listing,
    refuses: { not_found: 404, ...chainRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl, market, now }) => {
    const name = listingOf(market.prefix, params.askId);
    const row = name && (await readListing(db, query.chainId, name.orderHash, now()));
    if (row === null || row.marketplace !== name?.marketplace) {
      const orderHash = name?.orderHash ?? null;
      const asked = { chainId: query.chainId, id: params.askId, orderHash };
      return orderNotFound(asks, asked, db, now);
    }
    return { data: presentListing(row, await listingViewOf({ siteUrl, market })) };
  },
);
