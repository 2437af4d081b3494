import { z } from "zod";
import { reject } from "../../../../projections/domain/rejection.ts";
import { readBid } from "../../../../projections/reads/bids/read.ts";
import { orderHashOf } from "../../../work/orders/order-id.ts";
import { Bid, presentBid } from "../../views/bid.ts";
import { route } from "../context.ts";
import { bidId, chainId, chainRefusals } from "../parameters.ts";

export const bid = route(
  {
    method: "get",
    path: "/v1/bids/{bidId}",
    tag: "Bids",
    summary: "One bid in whatever state",
    params: z.object({ bidId }),
    query: z.object({ chainId }),
    data: Bid,
    refuses: { not_found: 404, ...chainRefusals },
    isKept: true,
  },
  async ({ params, query }, { db, siteUrl, market: { prefix }, now }) => {
    const orderHash = orderHashOf(prefix, params.bidId);
    const row = orderHash && (await readBid(db, query.chainId, orderHash, now()));
    if (row === null) return noBid(query.chainId, params.bidId);
    return { data: presentBid(row, { siteUrl, prefix }) };
  },
);

export function noBid(chain: number, bidId: string) {
  return reject("not_found", `No bid ${bidId} on chain ${chain}`);
}
