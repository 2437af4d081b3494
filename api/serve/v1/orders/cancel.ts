import { z } from "zod";
import { reject } from "#projections/domain/rejection.ts";
import { route } from "../routing/context.ts";
import { optionalChainId } from "../routing/parameters.ts";
import { asks, bids, idParams, type Side } from "./sides.ts";

/** Only the exchange can invalidate a signed order, so that these endpoints always reject. */
const cancelOrder = (side: Side) =>
  route(
    {
      method: "post",
      path: `${side.path}/{${side.idName}}/cancel`,
      operationId: `cancel${side.name}`,
      tag: "Orders",
      loadClass: "orders",
      summary: `Always rejected: makers cancel a ${side.noun} on chain`,
      params: idParams(side),
      query: z.object({ chainId: optionalChainId }),
      data: z.null(),
      refuses: { bad_structure: 422, unsupported_chain: 422, cancel_on_chain: 409 },
    },
    async () =>
      reject(
        "cancel_on_chain",
        "Only its maker can cancel an order, on chain by `cancel` or `incrementCounter` of the exchange; then call sync",
      ),
  );

export const askCancel = cancelOrder(asks);
export const bidCancel = cancelOrder(bids);
