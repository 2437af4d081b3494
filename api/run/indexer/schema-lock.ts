import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";

/** The right to run Ponder on a schema. It is held by a connection, so it ends with this process at the latest. */
export type SchemaLock = {
  /** Settles when the connection is gone: somebody else may hold the lease by then. */
  lost: Promise<void>;
  release(): Promise<void>;
};

/**
 * Waits until nobody runs Ponder on the schema, and keeps it so. Ponder's own lock is no help: it outlives a killed
 * Ponder by up to 25 s, and a second Ponder that is refused by it unlocks the first. With the lease held and no
 * connection of a Ponder left, that lock is a dead one's, and is taken off.
 */
export async function lockSchema(
  databaseUrl: string,
  schema: string,
  signal: AbortSignal,
  logger: Logger,
): Promise<SchemaLock> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: "indexer lease",
    keepAlive: true,
  });
  const lost = new Promise<void>((settle) => {
    client.on("error", () => settle());
    client.on("end", () => settle());
  });
  const release = () => client.end().catch(() => {});
  await client.connect();
  try {
    await waitForOthers(client, schema, signal, logger);
    await clearPonderLock(client, schema);
    return { lost, release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function waitForOthers(
  client: pg.Client,
  schema: string,
  signal: AbortSignal,
  logger: Logger,
): Promise<void> {
  for (let waits = 0; !(await tryLock(client, schema)); waits += 1) {
    if (waits === 50) logger.warn(`another process runs Ponder on ${schema}; waiting for its end`);
    await delay(100, undefined, { signal });
  }
  for (let waits = 0; (await countPonderConnections(client, schema, waits >= 50)) > 0; waits += 1) {
    if (waits === 50) logger.warn(`ending the connections of a lost Ponder on ${schema}`);
    await delay(100, undefined, { signal });
  }
}

async function tryLock(client: pg.Client, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ leased: boolean }>(
    "select pg_try_advisory_lock(hashtextextended('ponder ' || $1, 0)) as leased",
    [schema],
  );
  return rows[0]?.leased ?? false;
}

/** Connections of a Ponder carry its schema in their names; those of a vanished machine may linger for hours. */
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

/** What Ponder does itself at an orderly end. */
async function clearPonderLock(client: pg.Client, schema: string): Promise<void> {
  const table = `${client.escapeIdentifier(schema)}._ponder_meta`;
  const { rows } = await client.query<{ exists: boolean }>(
    "select to_regclass($1) is not null as exists",
    [table],
  );
  if (!rows[0]?.exists) return;
  await client.query(`update ${table} set value = jsonb_set(value, '{is_locked}', '0')`);
}
