import { z } from "zod";
import { type IntakeCode, intakeCodes } from "#projections/domain/intake-codes.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import type { Admission, Submission } from "#api/orders/market.ts";
import { orderId } from "#api/orders/order-id.ts";
import type { BodyLimits } from "#api/http/body.ts";
import { address, hash, uint256Text } from "#api/serve/views/wire.ts";
import type { Context } from "../routing/context.ts";
import type { Side } from "./sides.ts";
import { orderStatusName, rejectPaused, unknownField } from "./submission.ts";

/** For that many orders of up to 3,600 bytes: four consideration items and the signature of a tree of height 24. */
export function bulkLimits(orders: number): BodyLimits {
  return { maxBytes: orders * 3_600, maxValues: orders * 150, maxItemValues: 1_500 };
}

const retry = z.enum([...new Set(Object.values(intakeCodes).map((one) => one.retry))]);

/** The result of one order of a bulk request, without its id, whose name depends on the side. */
export const bulkResult = z.object({
  contractAddress: address.nullable(),
  tokenId: uint256Text.nullable(),
  success: z.boolean(),
  message: z.string(),
  orderHash: hash.optional(),
  status: orderStatusName.optional(),
  code: z.enum(Object.keys(intakeCodes) as [IntakeCode, ...IntakeCode[]]).optional(),
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

export function bulkData<Result extends z.ZodType>(result: Result) {
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
export async function admitMany(
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

export function fieldOf(item: unknown, name: string): unknown {
  return typeof item === "object" && item !== null
    ? (item as Record<string, unknown>)[name]
    : undefined;
}

export function presentResult(
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
export function summarize<Result extends { success: boolean }>(results: Result[]) {
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
