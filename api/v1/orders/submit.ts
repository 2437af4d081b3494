import { z } from "zod";
import type { BodyLimits } from "#api/http/body.ts";
import { callerOfInput, type RequestOrigin } from "#api/http/limit.ts";
import { documentAs } from "#api/http/query.ts";
import type { CriteriaRequest } from "#api/orders/criteria.ts";
import {
  parseOrderBody,
  protocolNames,
  rejectBulkSignature,
  signedOrderDocument,
  withoutSecondSpelling,
} from "#api/orders/intake/parse.ts";
import { orderId } from "#api/orders/order-id.ts";
import type { ChainId } from "#chains/index.ts";
import { type IntakeCode, intakeCodes } from "#projections/domain/intake-codes.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { type Context, route } from "../context.ts";
import { requiredBodyChainId } from "../parameters.ts";
import { hash } from "../wire.ts";
import { criteriaBodyLimits, criteriaRequest } from "./criteria.ts";
import { asks, bids, type Side } from "./sides.ts";

/** Parsed order by order: a malformed one does not reject the others. */
const signedOrder = z.unknown().meta({
  description:
    "A signed Seaport 1.6 order: `{parameters, signature}`, or flat. Integers are decimal strings.",
  override: documentAs({ ...signedOrderDocument, additionalProperties: undefined }),
});

/** An order with all its items and a long contract signature. */
const singleBodyLimits: BodyLimits = { maxBytes: 64 * 1024, maxValues: 1_500 };

/** The same with the tokens that a bid is for. */
const bidBodyLimits: BodyLimits = {
  maxBytes: 64 * 1024 + criteriaBodyLimits.maxBytes,
  maxValues: 1_500 + criteriaBodyLimits.maxValues,
};

const singleFields = { chainId: requiredBodyChainId, seaport: signedOrder.optional() };

const known = (fields: object) =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, z.unknown().optional()]));

/**
 * Loose, and `seaport` may be missing: the body may be an order of a retired protocol, which has its own rejection code.
 * Others are refused by the closed form.
 */
const bodyOf = <Fields extends z.core.$ZodShape>(more: Fields) => ({
  open: z
    .looseObject({ ...singleFields, ...more })
    .meta({ override: { required: ["chainId", "seaport"], additionalProperties: false } }),
  /** Of a body that is parsed by the open form. */
  closed: z.strictObject({ ...singleFields, ...known(more), ...protocolNames }),
});

const criteria = criteriaRequest.optional().meta({
  description:
    "The tokens of a bid on several, as in its requirements. May be left out if a bid for the same tokens was submitted before. Lists that are new have a budget by maker: beyond it 429 `rate_limited` with `Retry-After`, while known ones are accepted.",
});
const bodies = { ask: bodyOf({}), bid: bodyOf({ criteria }) };
type SingleBody = { chainId: ChainId; seaport?: unknown; criteria?: CriteriaRequest | undefined };

const bulkItem = (otherFields: Record<string, unknown>) =>
  z.unknown().meta({
    override: {
      type: "object",
      required: ["seaport"],
      additionalProperties: false,
      properties: {
        seaport: { ...signedOrderDocument, description: "As in the endpoint for a single order." },
        ...otherFields,
      },
    },
  });

/** `otherFields`: JSON schemas of further fields of each item. */
export function bulkBody<Name extends "listings" | "bids">(
  name: Name,
  max: number,
  otherFields: Record<string, unknown> = {},
) {
  const list = z.array(bulkItem(otherFields)).min(1, `must contain 1 to ${max} orders`);
  return z
    .strictObject({
      chainId: requiredBodyChainId,
      [name]: list.max(max, `must contain 1 to ${max} orders`),
      ...protocolNames,
    } as unknown as { chainId: typeof requiredBodyChainId } & Record<Name, typeof list>)
    .meta({ override: withoutSecondSpelling });
}

export const orderStatusName = z.enum(["active", "inactive", "filled", "expired", "cancelled"]);

/** All intake codes except that of the other side being paused. */
export function refusalsOf({ feature }: Side): typeof intakeCodes {
  const other: IntakeCode = feature === "listings" ? "offers_paused" : "listings_paused";
  const entries = Object.entries(intakeCodes).filter(([code]) => code !== other);
  return Object.fromEntries(entries) as typeof intakeCodes;
}

export async function rejectPaused(
  { feature }: Side,
  { market }: Context,
): Promise<Rejection<IntakeCode> | null> {
  if (!(await market.isPaused(feature))) return null;
  return reject(`${feature}_paused`, `Submission of ${feature} is paused`);
}

/** Names the first field that the schema does not know; other problems were found before. */
export function unknownField(schema: z.ZodType, value: unknown): Rejection<"bad_structure"> | null {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  if (issue === undefined) return null;
  const path = issue.path.concat(issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : []);
  const field = path.map((part) => String(part).slice(0, 100)).join(".") || "body";
  const message =
    issue.code === "unrecognized_keys" ? "is not a field of this request" : issue.message;
  return reject("bad_structure", `${field}: ${message}`, [{ field, message }]);
}

/** Admits the order of a request. An invalid body, or a signature for several orders, is rejected before a pause is checked. */
async function admitOne(
  side: Side,
  { body, from }: { body: SingleBody; from: RequestOrigin },
  context: Context,
) {
  const { chainId, seaport, criteria } = body;
  const parsed = parseOrderBody(seaport, { chainId, envelope: body });
  if (isRejection(parsed)) return parsed;
  const unknown = unknownField(bodies[side.side].closed, body);
  if (unknown !== null) return unknown;
  const rejection =
    (await rejectBulkSignature(context.market, side.side, chainId, parsed)) ??
    (await rejectPaused(side, context));
  if (rejection !== null) return rejection;
  const [admission] = await context.market.admit({
    side: side.side,
    chainId,
    orders: [seaport],
    parsed: new Map([[seaport, parsed]]),
    criteria: new Map(criteria === undefined ? [] : [[seaport, criteria]]),
    envelope: body,
    network: callerOfInput(from),
    now: context.now(),
  });
  if (admission === undefined) throw new Error("admission returned no result for an order");
  return admission.outcome;
}

const submitted = { orderHash: hash, status: orderStatusName };
type Submitted = z.output<z.ZodObject<typeof submitted>>;

/** `present` adds the id under the side's own name. */
const submitOrder = <Schema extends z.ZodType>(
  side: Side,
  data: Schema,
  present: (id: string, order: Submitted) => z.output<Schema>,
) =>
  route(
    {
      method: "post",
      path: side.path,
      operationId: `submit${side.name}`,
      tag: "Orders",
      loadClass: "orders",
      summary: `Submits a signed ${side.noun}. One that was submitted before returns its current status`,
      body: bodies[side.side].open as z.ZodType<SingleBody>,
      data,
      successes: { 201: "In the order book" },
      refuses: refusalsOf(side),
      bodyLimits: side.side === "bid" ? bidBodyLimits : singleBodyLimits,
    },
    async ({ body, ...from }, context) => {
      const outcome = await admitOne(side, { body, from }, context);
      if (isRejection(outcome)) return outcome;
      return { data: present(orderId(context.market.prefix, outcome.orderHash), outcome) };
    },
  );

export const submitAsk = submitOrder(
  asks,
  z.object({ askId: z.string(), ...submitted }),
  (askId, order) => ({ askId, ...order }),
);
export const submitBid = submitOrder(
  bids,
  z.object({ bidId: z.string(), ...submitted }),
  (bidId, order) => ({ bidId, ...order }),
);
