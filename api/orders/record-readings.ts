import { appendObservations } from "../../projections/log/append.ts";
import type { ChainReadings } from "../../projections/orders/chain-reading.ts";
import { newReadings } from "../../projections/orders/new-readings.ts";
import type { Market } from "./market.ts";

/** Tells the log what a chain said that it did not know, and waits until the books tell it too. */
export async function recordReadings(
  market: Market,
  { chainId, basis, readings }: ChainReadings,
  now: Date,
): Promise<void> {
  const observed = await newReadings(market.writer, { chainId, basis, readings }, now);
  if (observed.length === 0) return;
  const { head } = await appendObservations(market.writer, observed);
  await market.untilProjected(head);
}
