import { z } from "zod";
import { readBid } from "../../../../../projections/reads/bids/read.ts";
import { readSignedOrder } from "../../../../../projections/reads/orders/read-signed-order.ts";
import { orderHashOf, orderId } from "../../../../work/orders/order-id.ts";
import { BidComponents, presentSignedOrder } from "../../../views/components.ts";
import { noBid } from "../../bids/bid.ts";
import { route } from "../../context.ts";
import { bidId, chainId, chainRefusals } from "../../parameters.ts";

export const bidComponents = route(
  {
    method: "get",
    path: "/v1/orders/bids/{bidId}/components",
    tag: "Orders",
    summary: "A bid as its maker signed it, in whatever state",
    params: z.object({ bidId }),
    query: z.object({ chainId }),
    data: BidComponents,
    refuses: { not_found: 404, ...chainRefusals },
  },
  async ({ params, query }, { db, market: { prefix }, now }) => {
    const unknown = noBid(query.chainId, params.bidId);
    const orderHash = orderHashOf(prefix, params.bidId);
    if (orderHash === null) return unknown;
    const row = await readBid(db, query.chainId, orderHash, now());
    const signed = (await readSignedOrder(db, query.chainId, [orderHash])).get(orderHash);
    if (row === null || signed === undefined) return unknown;
    return { data: { bidId: orderId(prefix, orderHash), ...presentSignedOrder(row, signed) } };
  },
);
