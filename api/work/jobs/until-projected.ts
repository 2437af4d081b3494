import type { Database } from "../../../projections/database.ts";
import { readCheckpoints } from "../../../projections/engine/checkpoint.ts";
import type { Wake } from "../log-signal/wake.ts";

/** A notification that was sent while nobody listened is lost. */
const longestWaitMs = 2_000;

type Wait = {
  db: Database;
  /** Rung when tables of a projection begin to serve. */
  wake: Wake;
  signal: AbortSignal;
};

/** Settles when projections have been derived for the first time, or when `signal` is aborted. */
export async function untilProjected(
  names: readonly string[],
  { db, wake, signal }: Wait,
): Promise<void> {
  while (!signal.aborted) {
    const standing = await readCheckpoints(db);
    if (names.every((name) => standing.has(name))) return;
    await wake.wait(longestWaitMs, signal);
  }
}
