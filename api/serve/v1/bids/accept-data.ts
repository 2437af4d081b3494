import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { acceptBid } from "#api/orders/accept-bid.ts";
import { OfferAcceptData, presentAcceptData } from "#api/serve/views/orders/accept-data.ts";
import { route } from "../routing/context.ts";
import { bidId, bodyChainId, tokenId } from "../routing/parameters.ts";
import { acceptAmount, acceptRefusals, fulfiller } from "./accept-fields.ts";

export const acceptData = route(
  {
    method: "post",
    path: "/v1/bids/{bidId}/accept-data",
    operationId: "getAcceptData",
    tag: "Bids",
    loadClass: "orders",
    summary: "The call that accepts this bid, checked against the chain",
    params: z.object({ bidId }),
    body: z.strictObject({
      chainId: bodyChainId,
      fulfiller,
      tokenId: tokenId.nullish(),
      amount: acceptAmount,
    }),
    data: OfferAcceptData,
    refuses: { not_found: 404, ...acceptRefusals },
  },
  async ({ params, body }, { market, now }) => {
    const request = {
      chainId: body.chainId,
      bidId: params.bidId,
      seller: body.fulfiller,
      tokenId: body.tokenId ?? null,
      units: body.amount ?? null,
    };
    const accepted = await acceptBid(market, request, now());
    return isRejection(accepted) ? accepted : { data: presentAcceptData(accepted) };
  },
);
