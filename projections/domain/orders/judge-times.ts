import type { Rejection } from "../rejection.ts";
import type { OrderComponents } from "../seaport/order-components.ts";
import type { IntakeCode } from "./intake-codes.ts";
import type { OrderBounds } from "./market-terms.ts";
import { refuseField } from "./refuse-field.ts";

type Times = Pick<OrderComponents, "startTime" | "endTime">;

/**
 * Times are unix seconds. How long an order lasts is counted from its start, or from now when it
 * started longer ago than clocks may differ: time that is over is no part of it, and an order that
 * was signed a moment ago for exactly the shortest time is still taken.
 */
export function judgeTimes(
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
  return judgeDuration(endTime, from, bounds);
}

function judgeDuration(endTime: bigint, from: bigint, bounds: OrderBounds) {
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
  return refuseField(code, { field: `parameters.${time}`, expected, actual: `${actual}` });
}
