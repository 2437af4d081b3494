import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { buyListings } from "#api/orders/buy-listings.ts";
import { callerOfInput } from "#api/http/limit.ts";
import { BuyData, presentBuyData } from "#api/serve/views/orders/buy-data.ts";
import { route } from "../routing/context.ts";
import { bodyChainId } from "../routing/parameters.ts";
import { askIds, buyer, buyRefusals } from "./buy-fields.ts";

const code = z.enum([
  "bad_request",
  "not_found",
  "inactive",
  "unavailable",
  "order_mismatch",
  "price_above_max",
  "buyer_required",
  "bad_amount",
  "unsupported_marketplace",
  "unsupported_order",
  "upstream_error",
  "partner_rate_limited",
  "transfer_restricted",
  "buying_disabled",
]);

const BuyDataBulk = z
  .object({
    listings: z
      .array(BuyData)
      .meta({ description: "The calls that buy the listings, in the order of the request." }),
    errors: z.array(
      z.object({
        askId: z.string(),
        code,
        error: z.string(),
        retryAfterSeconds: z.int().min(1).optional().meta({
          description:
            "With `partner_rate_limited`: seconds after which to ask for this listing again. After the largest of a call there is a request for each of its listings.",
        }),
      }),
    ),
  })
  .meta({ id: "BuyDataBulk" });

export const buyDataBulk = route(
  {
    method: "post",
    path: "/v1/listings/buy-data-bulk",
    operationId: "getBulkBuyData",
    tag: "Listings",
    loadClass: "orders",
    summary: "The calls that buy up to 20 listings, with all remaining units of each",
    body: z.strictObject({ chainId: bodyChainId, askIds, buyer }),
    data: BuyDataBulk,
    refuses: buyRefusals,
  },
  async ({ body, ...from }, { market, now }) => {
    const { chainId } = body;
    const caller = callerOfInput(from);
    const request = { chainId, askIds: body.askIds, buyer: body.buyer ?? null, caller };
    const outcomes = await buyListings(market, { ...request, units: null, maxWei: null }, now());
    const errors = outcomes.flatMap((outcome, index) => {
      const askId = body.askIds[index] ?? "";
      if (!isRejection(outcome)) return [];
      const { rejected: code, message: error, retryAfterSeconds } = outcome;
      return { askId, code, error, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
    });
    const bought = outcomes.flatMap((outcome) => (isRejection(outcome) ? [] : outcome));
    return { data: { listings: bought.map(presentBuyData), errors } };
  },
);
