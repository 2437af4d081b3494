import { z } from "zod";
import { readListingPage } from "../../../../projections/reads/listings/read-listing-page.ts";
import { pageFields } from "../../http/page.ts";
import { Listing, presentListing } from "../../views/listing.ts";
import { listOrders, orderFilters, orderListShape } from "../orders/list-orders.ts";
import { route } from "../routing/context.ts";
import { marketplace, nativeAmount, orderSort } from "../routing/parameters.ts";

export const listListings = route(
  {
    ...orderListShape,
    method: "get",
    path: "/v1/listings",
    tag: "Listings",
    summary: "Listings that can be bought, or that are temporarily inactive",
    query: z.object({
      ...orderFilters,
      min_price: nativeAmount.optional(),
      max_price: nativeAmount.optional(),
      sort: orderSort.default("price_asc"),
      marketplace,
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
      present: presentListing,
    }),
);
