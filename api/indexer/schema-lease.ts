import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import pg from "pg";

/** The right to run Ponder on a schema. It is held by a connection, so it ends with this process at the latest. */
export type SchemaLease = {
  /** Settles when the connection is gone: somebody else may hold the lease by then. */
  lost: Promise<void>;
  release(): Promise<void>;
};

/**
 * Waits until nobody runs Ponder on the schema, and keeps it so. Ponder's own lock is no help: it outlives a killed
 * Ponder by up to 25 s, and a second Ponder that is refused by it unlocks the first. With the lease held and no
 * connection of a Ponder left, that lock is a dead one's, and is taken off.
 */
export async function leaseSchema(
  databaseUrl: string,
  schema: string,
  signal: AbortSignal,
  logger: Logger,
): Promise<SchemaLease> {
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
    await untilAlone(client, schema, signal, logger);
    await unlock(client, schema);
    return { lost, release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function untilAlone(
  client: pg.Client,
  schema: string,
  signal: AbortSignal,
  logger: Logger,
): Promise<void> {
  let waits = 0;
  while (!(await isLeased(client, schema)) || (await hasPonder(client, schema))) {
    if (waits === 20) logger.warn(`waiting: another process runs Ponder on ${schema}`);
    waits += 1;
    await delay(100, undefined, { signal });
  }
}

async function isLeased(client: pg.Client, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ leased: boolean }>(
    `select exists (
       select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid() and granted
     ) or pg_try_advisory_lock(hashtextextended('ponder ' || $1, 0)) as leased`,
    [schema],
  );
  return rows[0]?.leased ?? false;
}

/** Ponder's connections carry the schema in their names. */
async function hasPonder(client: pg.Client, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ alive: boolean }>(
    `select exists (
       select from pg_stat_activity
       where datname = current_database() and application_name = any ($1)
     ) as alive`,
    [["internal", "user", "readonly"].map((pool) => `${schema}_${pool}`)],
  );
  return rows[0]?.alive ?? false;
}

/** What Ponder does itself at an orderly end. */
async function unlock(client: pg.Client, schema: string): Promise<void> {
  const table = `${client.escapeIdentifier(schema)}._ponder_meta`;
  const { rows } = await client.query<{ exists: boolean }>(
    "select to_regclass($1) is not null as exists",
    [table],
  );
  if (!rows[0]?.exists) return;
  await client.query(`update ${table} set value = jsonb_set(value, '{is_locked}', '0')`);
}
