import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { signedOrderDocument } from "#api/orders/intake/parse.ts";
import { type CrossListing, crossListingCodes, type RequestedCrossListing, submitCrossListings } from "#api/orders/submit-cross-listings.ts";
import type { Admission } from "#api/orders/market.ts";
import { callerOfInput } from "#api/http/limit.ts";
import { hash } from "#api/serve/views/wire.ts";
import { type Context, route } from "../routing/context.ts";
import { admitMany, bulkData, bulkLimits, bulkResult, fieldOf, presentResult, summarize } from "./bulk-submission.ts";
import { asks, bids } from "./sides.ts";
import { bulkBody, refusalsOf } from "./submission.ts";

const bulkShape = {
  method: "post",
  tag: "Orders",
  loadClass: "orders",
  successes: { 200: "Some failed", 201: "All in the order book" },
  isBatch: true,
} as const;

/** Orders are parsed one by one, later. */
const bidItem = z.strictObject(
  { seaport: z.unknown() },
  { error: "must be an object with an order, neither too deep nor too large" },
);
const askItem = bidItem.extend({ opensea: z.unknown().optional() });

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
    body: bulkBody("bids", 50),
    data: bulkData(bulkResult.extend({ bidId: z.string().optional() })),
    refuses: refusalsOf(bids),
    bodyLimits: bulkLimits(50),
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
