import { z } from "zod";
import { reject } from "../../../projections/domain/rejection.ts";
import { readListing } from "../../../projections/listings/read.ts";
import { orderHashOf } from "../../orders/order-id.ts";
import { route } from "../context.ts";
import { askId, chainId, chainRefusals } from "../parameters.ts";
import { Listing, presentListing } from "../views/listing.ts";

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
  },
  async ({ params, query }, { db, siteUrl, market: { prefix }, now }) => {
    const orderHash = orderHashOf(prefix, params.askId);
    const row = orderHash && (await readListing(db, query.chainId, orderHash, now()));
    if (row === null) return noListing(query.chainId, params.askId);
    return { data: presentListing(row, { siteUrl, prefix }) };
  },
);

export function noListing(chain: number, askId: string) {
  return reject("not_found", `No listing ${askId} on chain ${chain}`);
}
