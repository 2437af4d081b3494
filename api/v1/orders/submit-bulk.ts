import { z } from "zod";
import type { BodyLimits } from "#api/http/body.ts";
import { callerOfInput } from "#api/http/limit.ts";
import { signedOrderDocument } from "#api/orders/intake/parse.ts";
import type { Admission, Submission } from "#api/orders/market.ts";
import { orderId } from "#api/orders/order-id.ts";
import {
  type CrossListing,
  crossListingCodes,
  type RequestedCrossListing,
  submitCrossListings,
} from "#api/orders/submit-cross-listings.ts";
import { type IntakeCode, intakeCodes } from "#projections/domain/intake-codes.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import { maxCriteriaTokens } from "#projections/domain/seaport/criteria.ts";
import { type Context, route } from "../context.ts";
import { address, hash, uint256Text } from "../wire.ts";
import { criteriaBodyLimits, criteriaRequest } from "./criteria.ts";
import { intakeCode } from "./order-terms.ts";
import { asks, bids, type Side } from "./sides.ts";
import { bulkBody, orderStatusName, refusalsOf, rejectPaused, unknownField } from "./submit.ts";

/** For that many orders of up to 3,600 bytes: four consideration items and the signature of a tree of height 24. */
function bulkLimits(orders: number): BodyLimits {
  return { maxBytes: orders * 3_600, maxValues: orders * 150, maxItemValues: 1_500 };
}

/** Fifty bids, and the tokens of one or several of them: together as many as one bid may be for. */
const bidLimits: BodyLimits = {
  maxBytes: 50 * 3_600 + criteriaBodyLimits.maxBytes,
  maxValues: 50 * 150 + criteriaBodyLimits.maxValues,
  maxItemValues: 1_500 + criteriaBodyLimits.maxValues,
};

const retry = z.enum([...new Set(Object.values(intakeCodes).map((one) => one.retry))]);

/** The result of one order of a bulk request, without its id, whose name depends on the side. */
const bulkResult = z.object({
  contractAddress: address.nullable(),
  tokenId: uint256Text.nullable(),
  success: z.boolean(),
  message: z.string(),
  orderHash: hash.optional(),
  status: orderStatusName.optional(),
  code: intakeCode.optional(),
  retry: retry.optional(),
  details: z
    .array(
      z.object({
        field: z.string(),
        expected: z.string().optional(),
        actual: z.string().optional(),
        message: z.string(),
      }),
    )
    .optional(),
});

function bulkData<Result extends z.ZodType>(result: Result) {
  return z.object({
    results: z.array(result).meta({ description: "In the order of the request." }),
    created: z.int().min(0),
    failed: z.int().min(0),
  });
}

type Bulk = Pick<Submission, "chainId" | "envelope" | "network"> & {
  side: Side;
  items: readonly unknown[];
  /** The fields of an item. */
  item: z.ZodType;
};

/** Admits orders that were submitted together, each independently. */
async function admitMany(
  { side, items, item, ...bulk }: Bulk,
  context: Context,
): Promise<Admission[] | Rejection<IntakeCode>> {
  const paused = await rejectPaused(side, context);
  if (paused !== null) return paused;
  const malformed = items.map((one) => unknownField(item, one));
  const wellFormed = items.filter((_, index) => malformed[index] === null);
  const admitted = await context.market.admit({
    ...bulk,
    side: side.side,
    orders: wellFormed.map((one) => fieldOf(one, "seaport")),
    criteria: new Map(
      wellFormed.flatMap((one) => {
        const request = criteriaRequest.safeParse(fieldOf(one, "criteria")).data;
        return request === undefined ? [] : [[fieldOf(one, "seaport"), request]];
      }),
    ),
    now: context.now(),
  });
  const admissions = admitted.values();
  return malformed.map((outcome): Admission => {
    if (outcome !== null) return { subject: null, outcome };
    const { value } = admissions.next();
    if (value === undefined) throw new Error("admission returned no result for an order");
    return value;
  });
}

function fieldOf(item: unknown, name: string): unknown {
  return typeof item === "object" && item !== null
    ? (item as Record<string, unknown>)[name]
    : undefined;
}

function presentResult(
  { subject, outcome }: Admission,
  prefix: string,
): { id: string | undefined; result: z.output<typeof bulkResult> } {
  const subjectFields = {
    contractAddress: subject?.contract ?? null,
    tokenId: subject?.tokenId?.toString() ?? null,
  };
  if (isRejection(outcome)) {
    const { rejected: code, message, details } = outcome;
    const detailFields =
      details === undefined ? {} : { details: details.map((one) => ({ ...one })) };
    const { retry } = intakeCodes[code];
    return {
      id: undefined,
      result: { ...subjectFields, success: false, message, code, retry, ...detailFields },
    };
  }
  const message = `In the order book, ${outcome.status}`;
  const id = orderId(prefix, outcome.orderHash);
  return { id, result: { ...subjectFields, success: true, message, ...outcome } };
}

/** 201 when all orders were admitted. */
function summarize<Result extends { success: boolean }>(results: Result[]) {
  const created = results.filter(({ success }) => success).length;
  const failed = results.length - created;
  const message =
    failed === 0
      ? `${created === 1 ? "The order is" : `All ${created} orders are`} in the order book`
      : `${created} of ${results.length} ${results.length === 1 ? "order is" : "orders are"} in the order book; ${failed} ${failed === 1 ? "was" : "were"} rejected`;
  return {
    status: failed === 0 ? (201 as const) : (200 as const),
    batch: { message, isDone: created > 0 },
    data: { results, created, failed },
  };
}

const bulkShape = {
  method: "post",
  tag: "Orders",
  loadClass: "orders",
  successes: { 200: "Some failed", 201: "All in the order book" },
  isBatch: true,
} as const;

/** Orders are parsed one by one, later. */
const orderItem = z.strictObject(
  { seaport: z.unknown() },
  { error: "must be an object with an order, neither too deep nor too large" },
);
const askItem = orderItem.extend({ opensea: z.unknown().optional() });
const bidItem = orderItem.extend({ criteria: criteriaRequest.optional() });

const crossListing = z
  .object({
    status: z.enum(["queued", "posted", "rejected"]),
    orderHash: hash
      .nullable()
      .meta({ description: "Of the cross-listing; null: it is not an order." }),
    code: z.enum(crossListingCodes).nullable().meta({ description: "null unless rejected." }),
    message: z.string(),
  })
  .meta({
    id: "CrossListing",
    description: "The status of the cross-listing; it does not affect the listing.",
  });

const opensea = {
  ...signedOrderDocument,
  description:
    "A cross-listing for opensea: the same token by the same maker, as described by `opensea` of the requirements. Validated after the listing, then posted to opensea.",
};

const criteria = {
  type: "object",
  additionalProperties: false,
  properties: {
    tokenIds: { type: "array", items: { type: "string" }, minItems: 1 },
    traits: { type: "array", items: { type: "object" }, minItems: 1 },
  },
  description: `As in the endpoint for a single order; all bids of a request together name ${maxCriteriaTokens} tokens at most.`,
};

export const submitAsks = route(
  {
    ...bulkShape,
    path: `${asks.path}/bulk`,
    operationId: "submitAsks",
    summary: "Submits up to 100 signed listings, each independently of the others",
    body: bulkBody("listings", 100, { opensea }),
    data: bulkData(
      bulkResult.extend({ askId: z.string().optional(), crossListing: crossListing.optional() }),
    ),
    refuses: refusalsOf(asks),
    // An order and its cross-listing each.
    bodyLimits: bulkLimits(200),
  },
  async ({ body, ...from }, context) => {
    const { chainId, listings } = body;
    const bulk = {
      side: asks,
      chainId,
      envelope: body,
      network: callerOfInput(from),
      items: listings,
      item: askItem,
    };
    const admissions = await admitMany(bulk, context);
    if (isRejection(admissions)) return admissions;
    const crossListings = await submitRequested(bulk, admissions, context);
    return summarize(
      admissions.map((admission, index) => {
        const { id: askId, result } = presentResult(admission, context.market.prefix);
        const submitted = crossListings[index];
        return {
          ...result,
          ...(askId !== undefined && { askId }),
          ...(submitted && { crossListing: submitted }),
        };
      }),
    );
  },
);

export const submitBids = route(
  {
    ...bulkShape,
    path: `${bids.path}/bulk`,
    operationId: "submitBids",
    summary: "Submits up to 50 signed bids, each independently of the others",
    body: bulkBody("bids", 50, { criteria }),
    data: bulkData(bulkResult.extend({ bidId: z.string().optional() })),
    refuses: refusalsOf(bids),
    bodyLimits: bidLimits,
  },
  async ({ body, ...from }, context) => {
    const { chainId, bids: items } = body;
    const bulk = {
      side: bids,
      chainId,
      envelope: body,
      network: callerOfInput(from),
      items,
      item: bidItem,
    };
    const admissions = await admitMany(bulk, context);
    if (isRejection(admissions)) return admissions;
    return summarize(
      admissions.map((admission) => {
        const { id: bidId, result } = presentResult(admission, context.market.prefix);
        return { ...result, ...(bidId !== undefined && { bidId }) };
      }),
    );
  },
);

/** The cross-listings by the index of their listing; none for a rejected listing. */
async function submitRequested(
  {
    chainId,
    items,
  }: { chainId: Parameters<typeof submitCrossListings>[1]["chainId"]; items: readonly unknown[] },
  admissions: readonly Admission[],
  { market, now }: Context,
): Promise<readonly (CrossListing | undefined)[]> {
  const requested = admissions.map(({ outcome }, index): RequestedCrossListing | null => {
    const order = fieldOf(items[index], "opensea") ?? null;
    return isRejection(outcome) || order === null ? null : { ...outcome, crossListing: order };
  });
  const submitted = await submitCrossListings(
    market,
    { chainId, now: now() },
    requested.filter((one) => one !== null),
  );
  const statuses = submitted.values();
  return requested.map((one) => (one === null ? undefined : statuses.next().value));
}
