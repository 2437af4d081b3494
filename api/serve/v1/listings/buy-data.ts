import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { buyListings } from "#api/orders/buy-listings.ts";
import { callerOfInput } from "#api/http/limit.ts";
import { BuyData, presentBuyData } from "#api/serve/views/orders/buy-data.ts";
import { route } from "../routing/context.ts";
import { askId, bodyChainId } from "../routing/parameters.ts";
import { buyAmount, buyer, buyRefusals, maxPrice, maxPriceWei } from "./buy-fields.ts";

export const buyData = route(
  {
    method: "post",
    path: "/v1/listings/{askId}/buy-data",
    operationId: "getBuyData",
    tag: "Listings",
    loadClass: "orders",
    summary: "The call that buys exactly this listing, checked against the chain",
    params: z.object({ askId }),
    body: z
      .strictObject({ chainId: bodyChainId, buyer, amount: buyAmount, maxPrice, maxPriceWei })
      .prefault({}),
    data: BuyData,
    refuses: {
      not_found: 404,
      inactive: 409,
      unavailable: 409,
      order_mismatch: 409,
      price_above_max: 409,
      ...buyRefusals,
      buyer_required: 422,
      bad_amount: 422,
      unsupported_marketplace: 422,
      unsupported_order: 422,
      transfer_restricted: 422,
      upstream_error: 502,
      partner_rate_limited: 503,
      buying_disabled: 503,
    },
  },
  async ({ params, body, ...from }, { market, now }) => {
    const request = {
      chainId: body.chainId,
      askIds: [params.askId],
      buyer: body.buyer ?? null,
      units: body.amount ?? null,
      maxWei: body.maxPriceWei ?? body.maxPrice ?? null,
      caller: callerOfInput(from),
    };
    const [bought] = await buyListings(market, request, now());
    if (bought === undefined) throw new Error("no outcome for the requested listing");
    return isRejection(bought) ? bought : { data: presentBuyData(bought) };
  },
);
