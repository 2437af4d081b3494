import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { beginHolding, createLock, takeLock } from "#projections/log/named-lock.ts";

/** The copy's name in its table. */
const engine = "clickhouse";

/** How far the copy in ClickHouse is, as of its last sync. */
export type CopyProgress = {
  position: bigint;
  syncedAt: Date | null;
  failedAt: Date | null;
  /** Of the last sync; null: it did not fail. */
  error: string | null;
  /** Facts of the log behind `position`. */
  behind: bigint;
};

/** Null: nothing was synced yet. */
export async function readCopyProgress(db: Database): Promise<CopyProgress | null> {
  const { rows } = await sql<CopyProgress>`
    select e.position, synced_at as "syncedAt", failed_at as "failedAt", error,
           greatest(0, h.position - e.position) as behind
    from ops.analytics_engine e, log.head h where engine = ${engine}`.execute(db);
  return rows[0] ?? null;
}

/** Forgets a copy that is no longer used. Returns whether there was one. */
export async function forgetCopy(db: Database): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`delete from ops.analytics_engine`.execute(db);
  return numAffectedRows > 0n;
}

/** `db` stores how a sync ended; `lockDb` holds the lock for as long as it takes. */
type Databases = { db: Database; lockDb: Database };

/** Syncs the copy and stores how that ended. One process does at a time: another fails with `isLockHeld`. */
export async function syncingAlone<Result extends { position: bigint }>(
  { db, lockDb }: Databases,
  sync: () => Promise<Result>,
): Promise<Result> {
  return await lockDb.connection().execute(async (connection) => {
    const run = (statement: string) => sql.raw(statement).execute(connection);
    const lock = `analytics ${engine}`;
    await createLock(run, lock);
    await beginHolding(run);
    try {
      await takeLock(run, lock, "nowait");
      return await storingOutcome(db, sync);
    } finally {
      await run("rollback");
    }
  });
}

async function storingOutcome<Result extends { position: bigint }>(
  db: Database,
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
