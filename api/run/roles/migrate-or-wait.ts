import { sql } from "kysely";
import type { Logger } from "pino";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { DatabaseUnavailable } from "#projections/log/database-failure.ts";
import { pendingMigrations } from "#projections/log/schema.ts";
import { sleep } from "#jobs/runner/back-off.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { placeOf } from "#ops/postgres/answering-server.ts";

const pollMs = 1_000;
const logEvery = 10;

/** Migrates as the owner of the tables; another database user waits until the owner has done it. */
async function migrateOrWait(db: Database, logger: Logger, signal: AbortSignal): Promise<void> {
  for (let tries = 0; !signal.aborted; tries += 1) {
    if (await mayMigrate(db)) return await migrate(db);
    const pending = await pendingMigrations(db);
    if (pending.length === 0) return;
    if (tries % logEvery === 0) {
      logger.warn({ migrations: pending.length }, "waiting for migrations: run op migrate");
    }
    await sleep(pollMs, signal);
  }
}

/** The same of the database at an address; while that does not answer it is waited for. */
export async function migrateAt(url: string, logger: Logger, signal: AbortSignal): Promise<void> {
  const db = openDatabase({ url, applicationName: "migrations", max: 2, onIdleError: () => {} });
  try {
    for (let logged = ""; !signal.aborted; ) {
      try {
        return await migrateOrWait(db, logger, signal);
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) throw error;
        const { message: reason } = error;
        const server = placeOf(url);
        if (reason !== logged)
          logger.warn({ server, reason }, "database does not answer, retrying");
        logged = reason;
        await sleep(pollMs, signal);
      }
    }
  } finally {
    await db.destroy();
  }
}

/** Whether the tables are this user's, or there are none. */
async function mayMigrate(db: Database): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select to_regnamespace('ops') is null or has_schema_privilege('ops', 'create') as may`.execute(
    db,
  );
  return rows[0]?.may ?? false;
}
