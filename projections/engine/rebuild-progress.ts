import { sql } from "kysely";
import type { Database, Session } from "../log/database.ts";
import { schemaOf } from "../log/versions.ts";
import { describeBulkProgress, readBulkProgress } from "./bulk-progress.ts";
import { dropTarget, isCurrent, readCheckpoints } from "./checkpoint.ts";
import type { Projection } from "./projection.ts";
import { type RebuildRun, readRebuildRun, storeRebuildRun } from "./schema-comment.ts";
import { shadowSchemas, withProjectionLock } from "./shadow-schema.ts";

/** A rebuild, and the projections that it has still to replace. */
export type StartedRebuild = RebuildRun & {
  readonly remaining: readonly Projection[];
  readonly isResumed: boolean;
};

/**
 * Starts a rebuild of several projections, each after those it reads. One of the same projections that was killed is
 * resumed: projections that it has swapped in are not derived again, unless this program derives another version.
 * `fromScratch` drops its progress instead.
 */
export async function startRebuild(
  db: Database,
  projections: readonly Projection[],
  fromScratch: boolean,
): Promise<StartedRebuild> {
  const names = projections.map(({ name }) => name);
  const interrupted = fromScratch ? null : await findInterruptedRebuild(db, projections);
  if (interrupted !== null) return interrupted;
  const run = { names, startedAt: new Date() };
  for (const name of names) {
    await withProjectionLock(db, name, () =>
      db
        .transaction()
        .execute((session) => createShadowSchema(session, shadowSchemas(name).next, run)),
    );
  }
  return { ...run, remaining: projections, isResumed: false };
}

/** Null where no shadow schema belongs to a rebuild of exactly these projections. */
async function findInterruptedRebuild(
  session: Session,
  projections: readonly Projection[],
): Promise<StartedRebuild | null> {
  const wanted = projections.map(({ name }) => name).join();
  const runs = new Map<string, RebuildRun>();
  for (const { name } of projections) {
    const run = await readRebuildRun(session, shadowSchemas(name).next);
    if (run?.names.join() === wanted) runs.set(name, run);
  }
  const [found] = runs.values();
  if (found === undefined) return null;
  const checkpoints = await readCheckpoints(session);
  const isRemaining = (projection: Projection) => {
    const serving = checkpoints.get(schemaOf(projection.name));
    return runs.has(projection.name) || serving === undefined || !isCurrent(serving, projection);
  };
  return { ...found, remaining: projections.filter(isRemaining), isResumed: true };
}

export type UnfinishedRebuild = {
  name: string;
  version: number | null;
  position: bigint;
  /** For people: how far it is. */
  progress: string;
  /** The command that resumes it. */
  command: string;
};

/** Rebuilds that run or were interrupted. */
export async function readUnfinishedRebuilds(
  session: Session,
  projections: readonly Projection[],
): Promise<UnfinishedRebuild[]> {
  const checkpoints = await readCheckpoints(session);
  const found: UnfinishedRebuild[] = [];
  for (const projection of projections) {
    const { name } = projection;
    const schema = shadowSchemas(name).next;
    const run = await readRebuildRun(session, schema);
    const command = `op rebuild ${(run?.names ?? [name]).join(" ")}`;
    const done = checkpoints.get(schema);
    const bulk = await readBulkProgress(session, { projection, schema });
    if (done !== undefined) {
      const { version, position } = done;
      found.push({
        name,
        version,
        position,
        progress: `is rebuilt up to position ${position}`,
        command,
      });
    } else if (bulk !== null) {
      const progress = `is being rebuilt, ${describeBulkProgress(bulk)}`;
      found.push({ name, version: projection.version, position: 0n, progress, command });
    } else if (run !== null) {
      found.push({ name, version: null, position: 0n, progress: "is not yet rebuilt", command });
    }
  }
  return found;
}

/** Empties a shadow schema and keeps the rebuild that it belongs to. */
export async function clearShadowSchema(session: Session, schema: string): Promise<void> {
  const run = await readRebuildRun(session, schema);
  if (run === null) await dropTarget(session, schema);
  else await createShadowSchema(session, schema, run);
}

async function createShadowSchema(
  session: Session,
  schema: string,
  run: RebuildRun,
): Promise<void> {
  await dropTarget(session, schema);
  await sql`create schema ${sql.id(schema)}`.execute(session);
  await storeRebuildRun(session, schema, run);
}
