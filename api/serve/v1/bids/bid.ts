import { z } from "zod";
import { readBid } from "#projections/orders/read-bids.ts";
import { orderHashOf } from "#api/orders/order-id.ts";
import { Bid, presentBid } from "#api/serve/views/orders/bid.ts";
import { bids } from "../orders/sides.ts";
import { route } from "../routing/context.ts";
import { bidId, chainId, chainRefusals } from "../routing/parameters.ts";

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
    if (row === null) return bids.notFound(query.chainId, params.bidId);
    return { data: presentBid(row, { siteUrl, prefix }) };
  },
);
