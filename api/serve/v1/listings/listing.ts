import { z } from "zod";
import { readListing } from "#projections/orders/read-listings.ts";
import { listingOf } from "#api/orders/order-id.ts";
import { Listing, presentListing } from "#api/serve/views/orders/listing.ts";
import { asks } from "../orders/sides.ts";
import { route } from "../routing/context.ts";
import { askId, chainId, chainRefusals } from "../routing/parameters.ts";

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
  async ({ params, query }, { db, siteUrl, market: { prefix }, now }) => {
    const name = listingOf(prefix, params.askId);
    const row = name && (await readListing(db, query.chainId, name.orderHash, now()));
    if (row === null || row.marketplace !== name?.marketplace) {
      return asks.notFound(query.chainId, params.askId);
    }
    return { data: presentListing(row, { siteUrl, prefix }) };
  },
);
