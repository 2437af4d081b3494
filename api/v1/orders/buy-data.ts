import { type Address, zeroAddress } from "viem";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { callerOfInput } from "#api/http/limit.ts";
import type { Payment } from "#api/orders/buy-calldata.ts";
import { buyListings, type PreparedPurchase } from "#api/orders/buy-listings.ts";
import { coinsInWords } from "#chains/texts.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { route } from "../context.ts";
import { askId, bodyChainId, maxNativeAmount } from "../parameters.ts";
import {
  address,
  chainIdValue,
  currency,
  exactUnits,
  hash,
  presentCurrency,
  time,
  uint256Text,
} from "../wire.ts";
import { advancedOrderFields, hexBytes, presentAdvancedOrder } from "./signed-order.ts";

export const buyPayment = z
  .object({
    token: address,
    balanceWei: uint256Text.nullable().meta({ description: "Null: the request has no buyer." }),
    allowanceWei: uint256Text.nullable(),
    requiredWei: uint256Text,
  })
  .nullable()
  .meta({
    description:
      "For a listing in an ERC-20 currency: the buyer's balance and allowance. " +
      "Approve exactly `requiredWei` for `to`. Null for native currency.",
  });

/** A transaction that buys exactly one listing: send `data` to `to` with `value` wei. */
export const BuyData = z
  .object({
    askId: z.string(),
    chainId: chainIdValue,
    to: address.meta({ description: "The exchange." }),
    data: hexBytes.meta({
      description: "`fulfillAdvancedOrder`, followed by four bytes that identify this service.",
    }),
    value: uint256Text.meta({ description: "Exact amount of wei to send." }),
    orderData: z
      .object({
        ...advancedOrderFields,
        fulfillerConduitKey: hash,
        recipient: address.meta({ description: "Zero: the sender of the transaction." }),
        payment: buyPayment,
      })
      .meta({ id: "BuyOrderData" }),
    currency,
    priceWei: uint256Text.meta({ description: "Of all the units bought." }),
    quantity: z.int().min(1).meta({ description: "Units bought." }),
    quantityExact: exactUnits,
    validUntil: time.nullable().meta({
      description:
        "When the call expires: with the listing, or earlier if a partner's authorization expires earlier.",
    }),
  })
  .meta({ id: "BuyData" });

function presentBuyData(prepared: PreparedPurchase): z.output<typeof BuyData> {
  const { askId, chainId, purchase, endsAt } = prepared;
  return {
    askId,
    chainId,
    to: seaportAddresses["1.6"],
    data: purchase.data,
    value: String(purchase.valueWei),
    orderData: {
      ...presentAdvancedOrder(purchase.order),
      fulfillerConduitKey: purchase.fulfillerConduitKey,
      recipient: purchase.recipient,
      payment: purchase.payment && presentPayment(purchase.payment),
    },
    currency: presentCurrency(chainId, purchase.currency ?? zeroAddress),
    priceWei: String(purchase.priceWei),
    quantity: Number(purchase.units),
    quantityExact: String(purchase.units),
    validUntil: endsAt.toISOString(),
  };
}

export function presentPayment({ token, balanceWei, allowanceWei, requiredWei }: Payment) {
  return {
    token,
    balanceWei: balanceWei === null ? null : String(balanceWei),
    allowanceWei: allowanceWei === null ? null : String(allowanceWei),
    requiredWei: String(requiredWei),
  };
}

/** Rejection codes of invalid requests to buy. */
const buyRefusals = {
  bad_request: 422,
  unsupported_chain: 422,
} as const;

/** A field with a rejection code of its own. `document` is its JSON schema; it tells one that is `given` as `required` as such. */
function coded<Schema extends z.ZodType>(
  code: "bad_request" | "bad_amount",
  schema: Schema,
  document: Record<string, unknown>,
  given = z.unknown().optional(),
) {
  return given
    .transform((value, context): z.output<Schema> => {
      const parsed = schema.safeParse(value);
      if (parsed.success) return parsed.data;
      for (const { path, message } of parsed.error.issues) {
        context.addIssue({ code: "custom", path, message, params: { rejects: code } });
      }
      return z.NEVER;
    })
    .meta({ override: document });
}

const addressPattern = "^0x[a-fA-F0-9]{40}$";
const decimalPattern = "^(0|[1-9][0-9]*)$";

const addressText = z
  .string()
  .regex(new RegExp(addressPattern), "must be an address")
  .transform((text) => text.toLowerCase() as Address);

const wei = z
  .string()
  .regex(/^(0|[1-9]\d{0,77})$/, "must be decimal wei")
  .transform(BigInt);

const amount = z
  .number()
  .int("must be a whole number of units")
  .min(1, "must be at least 1")
  .transform(BigInt);

const buyer = coded("bad_request", addressText.nullish(), {
  type: "string",
  pattern: addressPattern,
  description: "Receives the token. Default: the sender of the transaction.",
});

const buyAmount = coded("bad_amount", amount.nullish(), {
  type: "integer",
  minimum: 1,
  description: "Units of an ERC-1155 token. Default: all remaining units.",
});

const maxPrice = coded("bad_request", maxNativeAmount.nullish(), {
  type: ["number", "string"],
  description: `Maximum price of all units, in ${coinsInWords}.`,
});

const maxPriceWei = coded("bad_request", wei.nullish(), {
  type: "string",
  pattern: decimalPattern,
  description: "The same in wei; takes precedence over `maxPrice`.",
});

/** Of the same type for our code, which finds out itself that it is missing; the document tells that it must be there. */
const required = z.unknown() as unknown as z.ZodOptional<z.ZodUnknown>;

const askIds = coded(
  "bad_request",
  z.array(z.string().max(200)).min(1).max(20),
  { type: "array", items: { type: "string" }, minItems: 1, maxItems: 20 },
  required,
);

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
      items: [{ askId: params.askId, units: body.amount ?? null }],
      buyer: body.buyer ?? null,
      maxWei: body.maxPriceWei ?? body.maxPrice ?? null,
      caller: callerOfInput(from),
    };
    const [bought] = await buyListings(market, request, now());
    if (bought === undefined) throw new Error("no outcome for the requested listing");
    return isRejection(bought) ? bought : { data: presentBuyData(bought) };
  },
);

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

/** Why one of several listings cannot be bought. */
export const buyProblem = z.object({
  askId: z.string(),
  code,
  error: z.string(),
  retryAfterSeconds: z.int().min(1).optional().meta({
    description:
      "With `partner_rate_limited`: seconds after which to ask for this listing again. After the largest of a call there is a request for each of its listings.",
  }),
});

const BuyDataBulk = z
  .object({
    listings: z
      .array(BuyData)
      .meta({ description: "The calls that buy the listings, in the order of the request." }),
    errors: z.array(buyProblem),
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
    const items = body.askIds.map((askId) => ({ askId, units: null }));
    const request = { chainId, items, buyer: body.buyer ?? null, caller };
    const outcomes = await buyListings(market, { ...request, maxWei: null }, now());
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
