import { appendNews } from "../../../../projections/chain-readings/append-news.ts";
import type { ChainReadings } from "../../../../projections/chain-readings/chain-reading.ts";
import type { Market } from "./market.ts";

/** Appends the readings that differ from the log, and waits until they are projected. */
export async function recordReadings(
  market: Market,
  readings: ChainReadings,
  now: Date,
): Promise<void> {
  const appended = await appendNews(market.writer, [readings], now);
  if (appended !== null) await market.waitUntilProjected(appended.head);
}
