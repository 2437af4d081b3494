import { sql } from "kysely";
import type { Database } from "../../../database.ts";
import { beginHolding, createLock, takeLock } from "../../../named-lock.ts";

/** How far an analytics engine is, as of its last sync. */
export type EngineProgress = {
  engine: string;
  position: bigint;
  syncedAt: Date | null;
  failedAt: Date | null;
  /** Of the last sync; null: it did not fail. */
  error: string | null;
  /** Facts of the log behind `position`. */
  behind: bigint;
};

export async function readEngineProgress(db: Database): Promise<EngineProgress[]> {
  const { rows } = await sql<EngineProgress>`
    select engine, e.position, synced_at as "syncedAt", failed_at as "failedAt", error,
           greatest(0, h.position - e.position) as behind
    from ops.analytics_engine e, log.head h order by engine`.execute(db);
  return rows;
}

/** Forgets an engine that is no longer used. Returns whether it was known. */
export async function forgetEngine(db: Database, engine: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from ops.analytics_engine where engine = ${engine}`.execute(db);
  return numAffectedRows === 1n;
}

type Databases = {
  /** With the log that is copied. */
  db: Database;
  /** With the lock: of several logs that share a place, one is copied at a time. */
  lockDb: Database;
};

/** Syncs an engine and stores how that ended. One process does at a time: another fails with `isLockHeld`. */
export async function syncingAlone<Result extends { position: bigint }>(
  { db, lockDb }: Databases,
  engine: string,
  sync: () => Promise<Result>,
): Promise<Result> {
  return await lockDb.connection().execute(async (connection) => {
    const run = (statement: string) => sql.raw(statement).execute(connection);
    const lock = `analytics ${engine}`;
    await createLock(run, lock);
    await beginHolding(run);
    try {
      await takeLock(run, lock, "nowait");
      return await storingOutcome(db, engine, sync);
    } finally {
      await run("rollback");
    }
  });
}

async function storingOutcome<Result extends { position: bigint }>(
  db: Database,
  engine: string,
  sync: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await sync();
    await sql`
      insert into ops.analytics_engine (engine, position, synced_at)
      values (${engine}, ${result.position}, clock_timestamp())
      on conflict (engine) do update
        set position = excluded.position, synced_at = excluded.synced_at, failed_at = null, error = null`.execute(
      db,
    );
    return result;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await sql`
      insert into ops.analytics_engine (engine, position, failed_at, error)
      values (${engine}, 0, clock_timestamp(), ${message.slice(0, 500)})
      on conflict (engine) do update set failed_at = excluded.failed_at, error = excluded.error`.execute(
      db,
    );
    throw error;
  }
}
