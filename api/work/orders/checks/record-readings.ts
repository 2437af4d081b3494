import { appendNews } from "../../../../projections/chain-readings/append-news.ts";
import type { ChainReadings } from "../../../../projections/chain-readings/chain-reading.ts";
import type { Market } from "../market.ts";

/** Tells the log what a chain said that it did not know, and waits until the books tell it too. */
export async function recordReadings(
  market: Market,
  readings: ChainReadings,
  now: Date,
): Promise<void> {
  const appended = await appendNews(market.writer, [readings], now);
  if (appended !== null) await market.untilProjected(appended.head);
}
