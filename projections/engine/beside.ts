import { sql } from "kysely";
import type { Database, Session } from "../database.ts";
import { dropTarget } from "./checkpoint.ts";
import { isConflict } from "./failure.ts";

/** Schemas that may stand beside a projection's own, each with a checkpoint of its name. */
export function besides(name: string) {
  return {
    /** Being built; a build that was killed is taken up where it stood. */
    next: `${name}_next`,
    /** What the last rebuild replaced. */
    previous: `${name}_previous`,
    /** What the last rollback replaced. */
    replaced: `${name}_replaced`,
    /** Derived anew to be compared with. */
    verify: `${name}_verify`,
  };
}

/**
 * Does what only one process may do with the schemas beside a projection; another one waits. The lock goes with its
 * connection, so it never outlives a killed process by more than its statement.
 */
export async function alone<Result>(
  db: Database,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const key = `beside ${name}`;
  return await db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(hashtextextended(${key}, 0))`.execute(connection);
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(hashtextextended(${key}, 0))`.execute(connection);
    }
  });
}

/** Gives a schema and its checkpoint another name. Statements that read its tables go on with what they found. */
export async function renameTarget(session: Session, from: string, to: string): Promise<void> {
  await sql`alter schema ${sql.id(from)} rename to ${sql.id(to)}`.execute(session);
  await sql`update engine.checkpoint set projection = ${to} where projection = ${from}`.execute(
    session,
  );
}

const LOCK_TIMEOUT_MS = 2_000;
const TRIES = 60;

/**
 * Exchanges schemas in one short transaction while no projector is in the middle of a tick. A tick that began
 * before and goes on after is refused: it would read another's tables as they were in a snapshot too old for them. A build
 * beside it may hold its own checkpoint and wait for tables that are being dropped: one of the three is then told of a
 * deadlock, and tries again.
 */
export async function exchange<Result>(
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

/** An exchange of others holds every checkpoint for less than a lock's time. */
const DROP_TRIES = 3;

/** Drops a schema that serves nobody, unless a transaction is open that has read it when it did. */
export async function dropUnread(db: Database, schema: string): Promise<void> {
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
        `${schema} cannot be dropped while a transaction is open that has read it; end that, and run this again: ` +
          "what was derived is kept",
      );
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "55P03";
}
