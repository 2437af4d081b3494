import { z } from "zod";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import { acceptBid } from "../../../work/orders/accepting/accept.ts";
import { OfferAcceptData, presentAcceptData } from "../../views/accept-data.ts";
import { bodyChainId } from "../body-chain-id.ts";
import { route } from "../context.ts";
import { bidId, tokenId } from "../parameters.ts";
import { acceptAmount, acceptRefusals, fulfiller } from "./accept-fields.ts";

export const acceptData = route(
  {
    method: "post",
    path: "/v1/bids/{bidId}/accept-data",
    tag: "Bids",
    summary: "What to encode and send to sell into this offer, checked against the chain",
    params: z.object({ bidId }),
    body: z.object({
      chainId: bodyChainId,
      fulfiller,
      tokenId: tokenId.nullish(),
      amount: acceptAmount,
    }),
    data: OfferAcceptData,
    refuses: { not_found: 404, ...acceptRefusals },
  },
  async ({ params, body }, { market, now }) => {
    const asked = {
      chainId: body.chainId,
      bidId: params.bidId,
      seller: body.fulfiller,
      tokenId: body.tokenId ?? null,
      units: body.amount ?? null,
    };
    const accepted = await acceptBid(market, asked, now());
    return isRejection(accepted) ? accepted : { data: presentAcceptData(accepted) };
  },
);
