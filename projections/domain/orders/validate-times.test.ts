import { describe, expect, it } from "vitest";
import { orderBounds } from "./order-terms.ts";
import { validateTimes } from "./validate-terms.ts";

const now = 1_700_000_000n;
const day = 86_400n;

const codeOf = (startTime: bigint, endTime: bigint) =>
  validateTimes({ startTime, endTime }, orderBounds, now)?.rejected ?? null;

describe("validateTimes", () => {
  it.each<[string, bigint, bigint]>([
    ["from now for a day", now, now + day],
    ["from as far ahead as clocks may differ", now + 60n, now + day],
    ["signed a moment ago for exactly the shortest time", now - 5n, now + 595n],
    ["signed a moment ago for exactly the longest time", now - 5n, now - 5n + 180n * day],
    ["from the beginning of time until the longest time from now", 0n, now + 180n * day],
    ["from the beginning of time until the shortest time from now", 0n, now + 600n],
  ])("takes an order %s", (_, startTime, endTime) => {
    expect(codeOf(startTime, endTime)).toBeNull();
  });

  it.each<[string, string, bigint, bigint]>([
    ["end_before_start", "ends as it starts", now, now],
    ["end_before_start", "ended long before it starts", now + day, 1n],
    ["not_started", "starts later than clocks may differ", now + 61n, now + day],
    ["order_expired", "ends now", now - day, now],
    ["order_expired", "ended long ago", 1n, 2n],
    ["duration_too_short", "was signed for a second too little", now, now + 599n],
    ["duration_too_short", "has run and has a second too little left", now - day, now + 599n],
    ["duration_too_long", "was signed for a second too much", now, now + 180n * day + 1n],
    ["duration_too_long", "has run and has a second too much left", 0n, now + 180n * day + 1n],
    ["duration_too_long", "never ends", now, 2n ** 256n - 1n],
  ])("answers %s to an order that %s", (code, _, startTime, endTime) => {
    expect(codeOf(startTime, endTime)).toBe(code);
  });

  it("says which second would do", () => {
    expect(validateTimes({ startTime: now, endTime: now + 1n }, orderBounds, now)).toMatchObject({
      message: `parameters.endTime must be at least ${now + 600n}, 600 s after ${now}, and is ${now + 1n}`,
      details: [{ field: "parameters.endTime", actual: `${now + 1n}` }],
    });
  });
});
