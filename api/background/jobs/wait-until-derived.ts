import type { Database } from "../../../projections/database.ts";
import { isCurrent, readCheckpoints } from "../../../projections/engine/checkpoint.ts";
import type { Projection } from "../../../projections/engine/projection.ts";
import { schemaOf } from "../../../projections/versions.ts";
import type { Signal } from "../log-signal/signal.ts";

/** Notifications sent while disconnected are lost. */
const waitMs = 2_000;

type WaitOptions = {
  db: Database;
  /** Notified when a projection's tables are swapped in. */
  changeSignal: Signal;
  signal: AbortSignal;
};

/**
 * Resolves when the projections have been derived by this version and from these parameters, or when `signal` is
 * aborted. During an upgrade the tables of the version before are served, which may lack columns.
 */
export async function waitUntilDerived(
  projections: readonly Projection[],
  { db, changeSignal, signal }: WaitOptions,
): Promise<void> {
  while (!signal.aborted) {
    const checkpoints = await readCheckpoints(db);
    const isDerived = projections.every((projection) => {
      const checkpoint = checkpoints.get(schemaOf(projection.name));
      return checkpoint !== undefined && isCurrent(checkpoint, projection);
    });
    if (isDerived) return;
    await changeSignal.wait(waitMs, signal);
  }
}
