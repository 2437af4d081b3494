import { sql } from "kysely";
import type { Database, Session } from "../log/database.ts";
import { isConflict } from "../log/database-failure.ts";
import { withLock } from "../log/named-lock.ts";
import { schemaOf } from "../log/versions.ts";
import { describeBulkProgress, readBulkProgress } from "./bulk.ts";
import { dropTarget, isCurrent, readCheckpoints } from "./checkpoint.ts";
import type { Projection } from "./projection.ts";

/** Schemas that this release's version of a projection may have besides its own, each with a checkpoint of its name. */
export function shadowSchemas(name: string) {
  const schema = schemaOf(name);
  return {
    /** Being built; a build that was killed is resumed. */
    next: `${schema}_next`,
    /** What the last rebuild replaced. */
    previous: `${schema}_previous`,
    /** What the last rollback replaced. */
    replaced: `${schema}_replaced`,
    /** Derived to be compared with the serving tables. */
    verify: `${schema}_verify`,
  };
}

/** The schema whose shadow this one is; itself when it is none. */
export const withoutShadow = (schema: string): string =>
  schema.replace(/_(next|previous|replaced|verify)$/, "");

/**
 * Does work on a projection's shadow schemas under their lock; another process waits. The lock ends with its
 * connection, so it never outlives a killed process by more than its statement.
 */
export async function withProjectionLock<Result>(
  db: Database,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  return await withLock(db, projectionLock(name), work);
}

/** Renames a schema and its checkpoint. Statements that are reading its tables are not disturbed. */
export async function renameSchema(session: Session, from: string, to: string): Promise<void> {
  await sql`alter schema ${sql.id(from)} rename to ${sql.id(to)}`.execute(session);
  await sql`update engine.checkpoint set projection = ${to} where projection = ${from}`.execute(
    session,
  );
}

/** The name of the lock of the shadow schemas of this release's version of a projection. */
export const projectionLock = (name: string): string => lockOfSchema(schemaOf(name));

export const lockOfSchema = (schema: string): string => `shadow schemas of ${schema}`;

const LOCK_TIMEOUT_MS = 2_000;
const TRIES = 60;

/**
 * Swaps schemas in one short transaction while no projector is in a tick: it locks all checkpoints. A tick that started
 * before is aborted afterwards, since its snapshot is too old for the new tables. A build may hold its checkpoint and wait
 * for tables that are being dropped: PostgreSQL then ends one of the transactions as a deadlock, and it is tried again.
 */
export async function inSwapTransaction<Result>(
  db: Database,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction().execute(async (session) => {
        await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(session);
        await sql`select from engine.checkpoint order by projection for update`.execute(session);
        const done = await work(session);
        await sql`update engine.checkpoint set position = position`.execute(session);
        return done;
      });
    } catch (error) {
      if (tries === TRIES || !(isLockTimeout(error) || isConflict(error))) throw error;
    }
  }
}

/** A swap of another projection holds the checkpoints for less than the lock timeout. */
const DROP_TRIES = 3;

/** Drops a schema that no longer serves, unless an open transaction has read it. */
export async function dropUnusedSchema(db: Database, schema: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction().execute(async (session) => {
        await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(session);
        await dropTarget(session, schema);
      });
    } catch (error) {
      if (!(isLockTimeout(error) || isConflict(error))) throw error;
      if (tries < DROP_TRIES) continue;
      throw new Error(
        `cannot drop schema ${schema}: an open transaction has read it. End that transaction and run this again; ` +
          "the derived tables are kept",
      );
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "55P03";
}

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

type UnfinishedRebuild = {
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

/** A rebuild of several projections, in the comment of each shadow schema that it has not swapped in yet. */
type RebuildRun = { readonly names: readonly string[]; readonly startedAt: Date };

/** Facts per second at which the tables of a schema were derived in bulk; null where unknown. */
export async function readBulkRate(session: Session, schema: string): Promise<number | null> {
  const setSchemaComment = await readSchemaComment(session, schema);
  const [, facts, seconds] = /derived (\d+) facts in ([\d.]+) s/.exec(setSchemaComment) ?? [];
  return Number(facts) > 0 && Number(seconds) > 0 ? Number(facts) / Number(seconds) : null;
}

async function readRebuildRun(session: Session, schema: string): Promise<RebuildRun | null> {
  const note = await readSchemaComment(session, schema);
  const [, names, startedAt] = /rebuild of ([\w, ]+) (?:begun|started) (\S+)/.exec(note) ?? [];
  if (names === undefined || startedAt === undefined) return null;
  return { names: names.split(", "), startedAt: new Date(startedAt) };
}

/** For the estimate of the next rebuild, and for people who look at the schema. */
export async function storeBulkRate(
  session: Session,
  schema: string,
  facts: bigint,
  seconds: number,
): Promise<void> {
  const rate = `derived ${facts} facts in ${seconds.toFixed(3)} s`;
  const run = await readRebuildRun(session, schema);
  await note(session, schema, run === null ? rate : `${rate}; ${describeRebuildRun(run)}`);
}

async function storeRebuildRun(session: Session, schema: string, run: RebuildRun): Promise<void> {
  await note(session, schema, describeRebuildRun(run));
}

const describeRebuildRun = ({ names, startedAt }: RebuildRun) =>
  `rebuild of ${names.join(", ")} started ${startedAt.toISOString()}`;

async function note(session: Session, schema: string, text: string): Promise<void> {
  await sql`comment on schema ${sql.id(schema)} is ${sql.lit(text)}`.execute(session);
}

async function readSchemaComment(session: Session, schema: string): Promise<string> {
  const { rows } = await sql<{ note: string | null }>`
    select obj_description(oid, 'pg_namespace') as note from pg_namespace where nspname = ${schema}`.execute(
    session,
  );
  return rows[0]?.note ?? "";
}
