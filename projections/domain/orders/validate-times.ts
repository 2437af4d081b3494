import { type IntakeCode, rejectField } from "../intake-codes.ts";
import type { Rejection } from "../rejection.ts";
import type { OrderComponents } from "../seaport/order-components.ts";
import type { OrderBounds } from "./order-terms.ts";

type Times = Pick<OrderComponents, "startTime" | "endTime">;

/**
 * Times are unix seconds. The duration is counted from the start, or from now when the order started
 * more than the clock skew ago, so that an order signed a moment ago for exactly the minimum duration
 * is still valid.
 */
export function validateTimes(
  { startTime, endTime }: Times,
  bounds: OrderBounds,
  nowSeconds: bigint,
): Rejection<IntakeCode> | null {
  if (endTime <= startTime) {
    return refuse("end_before_start", "endTime", `later than startTime ${startTime}`, endTime);
  }
  const skew = BigInt(bounds.clockSkewSeconds);
  const latestStart = nowSeconds + BigInt(bounds.maxStartDelaySeconds) + skew;
  if (startTime > latestStart) {
    return refuse("not_started", "startTime", `at most ${latestStart}`, startTime);
  }
  if (endTime <= nowSeconds) {
    return refuse("order_expired", "endTime", `later than now, ${nowSeconds}`, endTime);
  }
  const from = startTime < nowSeconds - skew ? nowSeconds : startTime;
  return validateDuration(endTime, from, bounds);
}

function validateDuration(endTime: bigint, from: bigint, bounds: OrderBounds) {
  const earliestEnd = from + BigInt(bounds.minDurationSeconds);
  if (endTime < earliestEnd) {
    const expected = `at least ${earliestEnd}, ${bounds.minDurationSeconds} s after ${from}`;
    return refuse("duration_too_short", "endTime", expected, endTime);
  }
  const latestEnd = from + BigInt(bounds.maxDurationSeconds);
  if (endTime > latestEnd) {
    const expected = `at most ${latestEnd}, ${bounds.maxDurationSeconds} s after ${from}`;
    return refuse("duration_too_long", "endTime", expected, endTime);
  }
  return null;
}

function refuse(code: IntakeCode, time: keyof Times, expected: string, actual: bigint) {
  return rejectField(code, { field: `parameters.${time}`, expected, actual: `${actual}` });
}
