import type { Database } from "#projections/log/database.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { readSamples } from "#projections/log/operators.ts";

/** Minutes that a rate is the mean of. */
const minutes = 5;

export type Rate = {
  /** Head of the log when the time began, and now. */
  after: bigint;
  upTo: bigint;
  seconds: number;
  perSecond: number;
};

/** How fast the log grows; null until there is an earlier sample of its head. */
export async function readRate(
  db: Database,
  now: Date,
  overMinutes = minutes,
): Promise<Rate | null> {
  const since = new Date(now.getTime() - overMinutes * 60_000);
  const [oldest] = await readSamples(db, "log_head", since);
  if (oldest === undefined) return null;
  const upTo = await readLogHead(db);
  const after = BigInt(oldest.value);
  const seconds = Math.max(1, (now.getTime() - oldest.takenAt.getTime()) / 1_000);
  return { after, upTo, seconds, perSecond: Number(upTo - after) / seconds };
}
