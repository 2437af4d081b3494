import { z } from "zod";
import { isRejection } from "../../../../../projections/domain/rejection.ts";
import { readBid } from "../../../../../projections/reads/bids/read.ts";
import { syncOrder } from "../../../../work/orders/checks/sync.ts";
import { orderHashOf } from "../../../../work/orders/order-id.ts";
import { presentBid } from "../../../views/bid.ts";
import { BidSync, presentBidSync } from "../../../views/sync-record.ts";
import { noBid } from "../../bids/bid.ts";
import { bodyChainId } from "../../body-chain-id.ts";
import { route } from "../../context.ts";
import { bidId } from "../../parameters.ts";
import { txHash } from "../sync-fields.ts";

export const bidSync = route(
  {
    method: "post",
    path: "/v1/orders/bids/{bidId}/sync",
    tag: "Orders",
    summary: "Has an offer checked against the chain, and tells how it stands then",
    params: z.object({ bidId }),
    body: z.object({ chainId: bodyChainId, txHash }).prefault({}),
    data: BidSync,
    refuses: { not_found: 404, bad_structure: 422, unsupported_chain: 422, rpc_unavailable: 422 },
  },
  async ({ params, body }, { market, siteUrl, now }) => {
    const { chainId } = body;
    const { writer, prefix } = market;
    const unknown = noBid(chainId, params.bidId);
    const orderHash = orderHashOf(prefix, params.bidId);
    if (orderHash === null || !(await readBid(writer, chainId, orderHash, now()))) return unknown;
    const request = { chainId, orderHash, txHash: body.txHash ?? null };
    const check = await syncOrder(market, request, now());
    if (isRejection(check)) return check;
    const at = now();
    const row = await readBid(writer, chainId, orderHash, at);
    if (row === null) return unknown;
    return { data: presentBidSync(presentBid(row, { siteUrl, prefix }), { at, ...check }) };
  },
);
