import { sql } from "kysely";
import type { Database, Session } from "../log/database.ts";
import { isConflict } from "../log/database-failure.ts";
import { withLock } from "../log/named-lock.ts";
import { schemaOf } from "../log/versions.ts";
import { dropTarget } from "./checkpoint.ts";

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
