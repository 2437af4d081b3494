import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import {
  beginHolding,
  createLock,
  isLockHeld,
  takeLock,
  viewOf,
} from "../../../projections/named-lock.ts";

/** The name of the lock of a schema that Ponder writes. */
export const ponderLock = (schema: string): string => `ponder ${schema}`;

/** The right to run Ponder on a schema: a lock of a connection, which ends with this process at the latest. */
export type SchemaLock = {
  /** Resolves when the connection is lost: another process may then hold the lock. */
  lost: Promise<void>;
  release(): Promise<void>;
};

/**
 * Waits until no process runs Ponder on the schema, and locks it. Ponder's own lock is not sufficient: it outlives a
 * killed Ponder by up to 25 s, and a second Ponder that it refuses releases the lock of the first. While this lock is
 * held and no connection of a Ponder is left, Ponder's lock is stale and is cleared.
 */
export async function lockSchema(
  databaseUrl: string,
  schema: string,
  signal: AbortSignal,
  logger: Logger,
): Promise<SchemaLock> {
  const holder = connection(databaseUrl);
  const client = connection(databaseUrl);
  const lost = new Promise<void>((settle) => {
    holder.on("error", () => settle());
    holder.on("end", () => settle());
  });
  const release = () => holder.end().catch(() => {});
  try {
    await holder.connect();
    await client.connect();
    await waitForLock(holder, schema, signal, logger);
    await waitForPonder(client, schema, signal, logger);
    await clearPonderLock(client, schema);
    return { lost, release };
  } catch (error) {
    await release();
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

function connection(databaseUrl: string): pg.Client {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: "indexer schema lock",
    keepAlive: true,
  });
  // A lost connection fails its statement; unheard, it would end the process.
  client.on("error", () => {});
  return client;
}

async function waitForLock(
  holder: pg.Client,
  schema: string,
  signal: AbortSignal,
  logger: Logger,
): Promise<void> {
  await createLock((statement) => holder.query(statement), ponderLock(schema));
  for (let waits = 0; !(await tryLock(holder, schema)); waits += 1) {
    if (waits === 50)
      logger.warn({ schema }, "waiting for another process that runs Ponder on the schema");
    await delay(100, undefined, { signal });
  }
}

async function waitForPonder(
  client: pg.Client,
  schema: string,
  signal: AbortSignal,
  logger: Logger,
): Promise<void> {
  for (let waits = 0; (await countPonderConnections(client, schema, waits >= 50)) > 0; waits += 1) {
    if (waits === 50)
      logger.warn({ schema }, "closing connections left by a Ponder process that is gone");
    await delay(100, undefined, { signal });
  }
}

/** The transaction that holds the lock stays open. */
async function tryLock(holder: pg.Client, schema: string): Promise<boolean> {
  // A refused lock is an error in the server's log; one that is seen to be held is not.
  const { rowCount } = await holder.query(
    "select from pg_locks where relation = $1::regclass and granted",
    [viewOf(ponderLock(schema))],
  );
  if (rowCount !== 0) return false;
  const run = (statement: string) => holder.query(statement);
  await beginHolding(run);
  try {
    await takeLock(run, ponderLock(schema), "nowait");
    return true;
  } catch (error) {
    await run("rollback");
    if (isLockHeld(error)) return false;
    throw error;
  }
}

/** A Ponder's connections have its schema in their names; those of a lost machine may stay open for hours. */
async function countPonderConnections(
  client: pg.Client,
  schema: string,
  end: boolean,
): Promise<number> {
  const { rowCount } = await client.query(
    `select case when $2 then pg_terminate_backend(pid) end
     from pg_stat_activity where datname = current_database() and application_name = any ($1)`,
    [["internal", "user", "readonly"].map((pool) => `${schema}_${pool}`), end],
  );
  return rowCount ?? 0;
}

/** Does what Ponder does at an orderly stop. */
async function clearPonderLock(client: pg.Client, schema: string): Promise<void> {
  const table = `${client.escapeIdentifier(schema)}._ponder_meta`;
  const { rows } = await client.query<{ exists: boolean }>(
    "select to_regclass($1) is not null as exists",
    [table],
  );
  if (!rows[0]?.exists) return;
  await client.query(`update ${table} set value = jsonb_set(value, '{is_locked}', '0')`);
}
