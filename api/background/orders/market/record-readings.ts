import { appendChangedReadings } from "#projections/orders/changed-readings.ts";
import type { ChainReadings } from "#projections/log/readings.ts";
import type { Market } from "./market.ts";

/** Appends the readings that differ from the log, and waits until they are projected. */
export async function recordReadings(
  market: Market,
  readings: ChainReadings,
  now: Date,
): Promise<void> {
  const appended = await appendChangedReadings(market.writer, [readings], now);
  if (appended !== null) await market.waitUntilProjected(appended.head);
}
