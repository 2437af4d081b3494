import type { Database } from "../log/database.ts";
import { type ChainReadings, readingObserved } from "../log/readings.ts";
import { appendObservations, type Observation } from "../log/append.ts";
import { findChangedReadings } from "./find-changed-readings.ts";

/** Appends the readings of one or more rounds that differ from the log; none appended: null. `head`: the end of the log. */
export async function appendChangedReadings(
  db: Database,
  rounds: readonly ChainReadings[],
  now: Date,
): Promise<{ readonly appended: readonly Observation[]; readonly head: bigint } | null> {
  const observations: Observation[] = [];
  for (const round of rounds) observations.push(...(await findChangedReadings(db, round, now)));
  if (observations.length === 0) return null;
  const { head } = await appendObservations(db, observations);
  return { appended: observations, head };
}

/**
 * Appends readings whether they differ from the log or not: the facts that they would be compared with are of blocks
 * that left the chain and may not be retracted yet.
 */
export async function appendReadings(
  db: Database,
  { chainId, basis, readings }: ChainReadings,
  now: Date,
): Promise<void> {
  if (readings.length === 0) return;
  const observed = readings.map((reading) => readingObserved({ chainId, basis }, reading, now));
  await appendObservations(db, observed);
}
