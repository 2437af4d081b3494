import type { Database } from "../../../projections/database.ts";
import { readCheckpoints } from "../../../projections/engine/checkpoint.ts";
import type { Signal } from "../log-signal/signal.ts";

/** Notifications sent while disconnected are lost. */
const waitMs = 2_000;

type WaitOptions = {
  db: Database;
  /** Notified when a projection's tables are swapped in. */
  changeSignal: Signal;
  signal: AbortSignal;
};

/** Resolves when the projections have been derived for the first time, or when `signal` is aborted. */
export async function waitUntilDerived(
  names: readonly string[],
  { db, changeSignal, signal }: WaitOptions,
): Promise<void> {
  while (!signal.aborted) {
    const checkpoints = await readCheckpoints(db);
    if (names.every((name) => checkpoints.has(name))) return;
    await changeSignal.wait(waitMs, signal);
  }
}
