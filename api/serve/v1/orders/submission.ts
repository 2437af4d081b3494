import { z } from "zod";
import { chainIds } from "../../../../abis/deployments.ts";
import {
  type IntakeCode,
  intakeCodes,
} from "../../../../projections/domain/orders/intake-codes.ts";
import { isRejection, type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import type { Submission } from "../../../work/orders/intake/candidate.ts";
import { parseOrder, signedOrderDocument } from "../../../work/orders/intake/order-body-schema.ts";
import type { Context } from "../context.ts";

export const bodyChainId = z
  .int()
  .transform((value, context) => {
    const known = chainIds.find((id) => id === value);
    if (known !== undefined) return known;
    const message = `must be one of ${chainIds.join(", ")}`;
    context.addIssue({ code: "custom", message, params: { rejects: "unsupported_chain" } });
    return z.NEVER;
  })
  .meta({
    description: "Chain the order is for.",
    override: { type: "integer", enum: [...chainIds] },
  });

/** Looked at order by order: one that is malformed does not spoil the others. */
const signedOrder = z.unknown().meta({
  description:
    "A signed Seaport 1.6 order: `{parameters, signature}`, or flat. Integers are decimal strings.",
  override: { ...signedOrderDocument, additionalProperties: undefined },
});

/** An order with a few legs and what a contract may take for a signature. */
export const singleBodyBytes = 64 * 1024;

/** A body without an order may hold one of a retired protocol in its place, which is refused by its own code. */
export const singleBody = z
  .looseObject({ chainId: bodyChainId, seaport: signedOrder.optional() })
  .meta({ override: { required: ["chainId", "seaport"] } });

const bulkItem = (beside: Record<string, unknown>) =>
  z.unknown().meta({
    override: {
      type: "object",
      required: ["seaport"],
      properties: {
        seaport: { ...signedOrderDocument, description: "As in the single endpoint." },
        ...beside,
      },
    },
  });

/** `beside`: JSON schemas of what may stand beside an order. */
export function bulkBody<Name extends "listings" | "bids">(
  name: Name,
  most: number,
  beside: Record<string, unknown> = {},
) {
  const list = z.array(bulkItem(beside)).min(1, `must hold 1 to ${most} orders`);
  return z.looseObject({
    chainId: bodyChainId,
    [name]: list.max(most, `must hold 1 to ${most} orders`),
  } as { chainId: typeof bodyChainId } & Record<Name, typeof list>);
}

export const orderStatusName = z.enum(["active", "inactive", "filled", "expired", "cancelled"]);

/** Codes of intake but for the switch of the other side. */
export function refusalsOf(side: Submission["side"]): typeof intakeCodes {
  const other: IntakeCode = side === "ask" ? "offers_paused" : "listings_paused";
  const entries = Object.entries(intakeCodes).filter(([code]) => code !== other);
  return Object.fromEntries(entries) as typeof intakeCodes;
}

export async function refusePaused(
  side: Submission["side"],
  { market }: Context,
): Promise<Rejection<IntakeCode> | null> {
  const part = side === "ask" ? "listings" : "offers";
  if (!(await market.isPaused(part))) return null;
  return reject(`${part}_paused`, `No ${part} are taken in for a while`);
}

/** Takes in the one order of a request. What is wrong with the body itself goes before a pause. */
export async function admitOne(
  side: Submission["side"],
  body: z.output<typeof singleBody>,
  context: Context,
) {
  const { chainId, seaport } = body;
  const parsed = parseOrder(seaport, { chainId, envelope: body });
  if (isRejection(parsed)) return parsed;
  const refused = await refusePaused(side, context);
  if (refused !== null) return refused;
  const [admission] = await context.market.admit({
    side,
    chainId,
    orders: [seaport],
    parsed: new Map([[seaport, parsed]]),
    envelope: body,
    takesBulkSignatures: false,
    now: context.now(),
  });
  if (admission === undefined) throw new Error("an order got no outcome");
  return admission.outcome;
}
