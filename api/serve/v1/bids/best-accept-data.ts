import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { acceptBestBid } from "#api/orders/accept-bid.ts";
import { OfferAcceptData, presentAcceptData } from "#api/serve/views/orders/accept-data.ts";
import { route } from "../routing/context.ts";
import { bodyChainId, tokenId, wallet } from "../routing/parameters.ts";
import { acceptRefusals, fulfiller } from "./accept-fields.ts";

export const bestAcceptData = route(
  {
    method: "post",
    path: "/v1/bids/best-accept-data",
    operationId: "getBestAcceptData",
    tag: "Bids",
    loadClass: "orders",
    summary: "The call that accepts the bid with the highest net among those that pass the checks",
    body: z.strictObject({ chainId: bodyChainId, contract: wallet, tokenId, fulfiller }),
    data: OfferAcceptData,
    refuses: { not_found: 404, ...acceptRefusals },
  },
  async ({ body }, { market, now }) => {
    const { chainId, contract, tokenId, fulfiller: seller } = body;
    const request = { chainId, contract, tokenId, seller, units: null };
    const accepted = await acceptBestBid(market, request, now());
    return isRejection(accepted) ? accepted : { data: presentAcceptData(accepted) };
  },
);
