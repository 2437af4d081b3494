import { z } from "zod";
import { readListings, readHashedListingPage, readListingPage } from "#projections/orders/read-listings.ts";
import { pageFields, rowFields } from "#api/http/page.ts";
import { Listing, presentListing } from "#api/serve/views/orders/listing.ts";
import { listOrders, orderFilters, orderListShape, orderPlans } from "../orders/list-orders.ts";
import { route } from "../routing/context.ts";
import { nativeAmount } from "../routing/native-amount.ts";
import { marketplace, orderSort } from "../routing/parameters.ts";

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
      readHashedPage: readHashedListingPage,
      readOrders: readListings,
      present: presentListing,
    }),
);
