import type { Database } from "../log/database.ts";
import { schemaOf } from "../log/versions.ts";
import { dropTarget } from "./checkpoint.ts";
import { DerivationFailed, isPermanentError, type Projection } from "./projection.ts";
import {
  appendQuarantined,
  appendReleased,
  factsPendingReplay,
  type QuarantineState,
  readQuarantineState,
} from "./quarantine.ts";
import { withDependents } from "./rebuild.ts";
import { dependsOn, runConcurrently } from "./run-concurrently.ts";
import { shadowSchemas, withProjectionLock } from "./shadow-schema.ts";

/** Projections that a fact was released for, and the failure that kept it quarantined for others. */
export type Release = { released: readonly string[]; failure: Error | null };

type ReleaseOptions = {
  /** Position of the fact. */
  fact: bigint;
  /** For this projection only; null: for all that have it quarantined. */
  projection: string | null;
  rebuildOne: (projection: Projection) => Promise<unknown>;
};

/**
 * Releases a quarantined fact: the projections concerned and those that read them are rebuilt with it, since rows of later
 * facts may depend on it. Until then it stays excluded from their tables. A projection that fails on it again gets it
 * quarantined again. A release that was killed is resumed.
 */
export async function releaseQuarantined(
  db: Database,
  projections: readonly Projection[],
  { fact, projection, rebuildOne }: ReleaseOptions,
): Promise<Release> {
  const freed = await appendReleased(db, fact, projection);
  const state = await readQuarantineState(db);
  const pending = projections.filter((one) => factsPendingReplay(one, state).includes(fact));
  const due = pending.map(({ name }) => name);
  const released = [...new Set([...freed, ...due])];
  const chosen = withDependents(projections, due);
  try {
    await runConcurrently(chosen, rebuildOne, dependsOn);
    return { released, failure: null };
  } catch (error) {
    if (!(error instanceof DerivationFailed || isPermanentError(error))) throw error;
    for (const one of chosen) await quarantineAgain(db, one, fact, error);
    const now = await readQuarantineState(db);
    const isApplied = (name: string) => !isExcluded(now, name, fact);
    return { released: released.filter(isApplied), failure: error };
  }
}

const isExcluded = ({ checkpoints }: QuarantineState, name: string, fact: bigint) =>
  checkpoints.get(schemaOf(name))?.excludedPositions.includes(fact) === true;

/** Where the fact is still excluded from the tables, and not because of tables they read, the log is to say so again. */
async function quarantineAgain(
  db: Database,
  projection: Projection,
  fact: bigint,
  { message }: Error,
): Promise<void> {
  const { name } = projection;
  await withProjectionLock(db, name, () =>
    db.transaction().execute(async (session) => {
      const state = await readQuarantineState(session);
      if (!isExcluded(state, name, fact)) return;
      await dropTarget(session, shadowSchemas(name).next);
      if (!factsPendingReplay(projection, state).includes(fact)) return;
      await appendQuarantined(session, { projection: name, fact, error: message });
    }),
  );
}
