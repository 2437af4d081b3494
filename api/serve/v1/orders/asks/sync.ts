import { z } from "zod";
import { isRejection } from "../../../../../projections/domain/rejection.ts";
import { readListing } from "../../../../../projections/reads/listings/read.ts";
import { syncOrder } from "../../../../work/orders/checks/sync.ts";
import { orderHashOf } from "../../../../work/orders/order-id.ts";
import { presentListing } from "../../../views/listing.ts";
import { AskSync, presentAskSync } from "../../../views/sync-record.ts";
import { bodyChainId } from "../../body-chain-id.ts";
import { route } from "../../context.ts";
import { noListing } from "../../listings/listing.ts";
import { askId } from "../../parameters.ts";
import { txHash } from "../sync-fields.ts";

export const askSync = route(
  {
    method: "post",
    path: "/v1/orders/asks/{askId}/sync",
    tag: "Orders",
    summary: "Has a listing checked against the chain, and tells how it stands then",
    params: z.object({ askId }),
    body: z.object({ chainId: bodyChainId, txHash }).prefault({}),
    data: AskSync,
    refuses: { not_found: 404, bad_structure: 422, unsupported_chain: 422, rpc_unavailable: 422 },
  },
  async ({ params, body }, { market, siteUrl, now }) => {
    const { chainId } = body;
    const { writer, prefix } = market;
    const unknown = noListing(chainId, params.askId);
    const orderHash = orderHashOf(prefix, params.askId);
    if (orderHash === null || !(await readListing(writer, chainId, orderHash, now())))
      return unknown;
    const request = { chainId, orderHash, txHash: body.txHash ?? null };
    const check = await syncOrder(market, request, now());
    if (isRejection(check)) return check;
    const at = now();
    const row = await readListing(writer, chainId, orderHash, at);
    if (row === null) return unknown;
    return { data: presentAskSync(presentListing(row, { siteUrl, prefix }), { at, ...check }) };
  },
);
