import { z } from "zod";
import { reject } from "../../../../projections/domain/rejection.ts";
import { readListing } from "../../../../projections/reads/listings/read.ts";
import { listingOf } from "../../../work/orders/order-id.ts";
import { Listing, presentListing } from "../../views/listing.ts";
import { route } from "../context.ts";
import { askId, chainId, chainRefusals } from "../parameters.ts";

export const listing = route(
  {
    method: "get",
    path: "/v1/listings/{askId}",
    tag: "Listings",
    summary: "One listing in whatever state",
    params: z.object({ askId }),
    query: z.object({ chainId }),
    data: Listing,
    refuses: { not_found: 404, ...chainRefusals },
    isKept: true,
  },
  async ({ params, query }, { db, siteUrl, market: { prefix }, now }) => {
    const named = listingOf(prefix, params.askId);
    const row = named && (await readListing(db, query.chainId, named.orderHash, now()));
    if (row === null || row.marketplace !== named?.marketplace) {
      return noListing(query.chainId, params.askId);
    }
    return { data: presentListing(row, { siteUrl, prefix }) };
  },
);

export function noListing(chain: number, askId: string) {
  return reject("not_found", `No listing ${askId} on chain ${chain}`);
}
