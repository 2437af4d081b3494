import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import type { Logger } from "pino";
import { sleep } from "#jobs/runner/back-off.ts";
import { type Database, keptAlive } from "#projections/log/database.ts";
import {
  beginHolding,
  createLock,
  isLockHeld,
  takeLock,
  viewOf,
} from "#projections/log/named-lock.ts";
import type { IndexerId } from "#projections/log/sources.ts";
import { ponderDirectory, projectRoot } from "../programs.ts";
import type { IndexedSources } from "./indexed-sources.ts";

/**
 * `ponder_<chain id>_<8 hex digits>`, a hash of what is indexed and of the code that decodes it. It covers everything
 * that makes Ponder reject its own schema, so that the same name always means the same rows. RPC URLs are not part of
 * it. Each generation has its own schema.
 */
export function schemaName(sources: IndexedSources, generation: number): string {
  const hash = createHash("sha256").update(JSON.stringify(sources));
  if (generation > 0) hash.update(`\0generation ${generation}\0`);
  hash.update(ponderVersion());
  for (const file of decoderFiles()) {
    hash.update(`\0${file}\0`).update(readFileSync(join(projectRoot, file)));
  }
  return `ponder_${sources.chainId}_${hash.digest("hex").slice(0, 8)}`;
}

function decoderFiles(): string[] {
  const handlers = readdirSync(join(projectRoot, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `src/${name}`);
  return ["ponder.config.ts", "ponder.schema.ts", ...handlers].toSorted();
}

function ponderVersion(): string {
  const manifest = join(ponderDirectory, "package.json");
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}

const pollMs = 2_000;

/** Sets the schema that the recorder reads from; `isFirst`: unless one is set, so that the first backfill is recorded while it runs. */
export async function activateSchema(
  db: Database,
  { chainId, indexer }: IndexerId,
  schema: string,
  isFirst = false,
): Promise<void> {
  const otherwise = isFirst
    ? sql`nothing`
    : sql`update set ponder_schema = excluded.ponder_schema, started_at = now()`;
  await sql`
    insert into ops.indexer (chain_id, name, ponder_schema, started_at)
    values (${chainId}, ${indexer}, ${schema}, now())
    on conflict (chain_id, name) do ${otherwise}`.execute(db);
}

/** How many times an operator has had the indexer's sources indexed again. */
export async function readGeneration(
  db: Database,
  { chainId, indexer }: IndexerId,
): Promise<number> {
  const { rows } = await sql<{ generation: number }>`
    select generation from ops.indexer where chain_id = ${chainId} and name = ${indexer}`.execute(
    db,
  );
  return rows[0]?.generation ?? 0;
}

/** Makes the indexer and the recorder use another schema; the recorder waits until it has tables. */
export async function startGeneration(
  db: Database,
  { chainId, indexer }: IndexerId,
  { schema, generation }: { schema: string; generation: number },
): Promise<void> {
  await sql`
    insert into ops.indexer (chain_id, name, ponder_schema, started_at, generation)
    values (${chainId}, ${indexer}, ${schema}, now(), ${generation})
    on conflict (chain_id, name) do update
      set ponder_schema = excluded.ponder_schema, started_at = now(), generation = excluded.generation
  `.execute(db);
}

/** Resolves with a reason when the indexer's sources are to be indexed into another schema. */
export async function waitForNewGeneration(
  db: Database,
  id: IndexerId,
  generation: number,
  signal: AbortSignal,
): Promise<string> {
  while (!signal.aborted) {
    await sleep(pollMs, signal);
    const current = await readGeneration(db, id).catch(() => generation);
    if (current !== generation) return "an operator started a reindex or a recovery";
  }
  return "stopped";
}

/** A database that does not answer a statement for so long is gone: all of them are short. */
const answerMs = 10_000;
const askEveryMs = 5_000;
/** How long the server may take to answer the end of a connection. */
const closeMs = 2_000;

/** The name of the lock of a schema that Ponder writes. */
export const ponderLock = (schema: string): string => `ponder ${schema}`;

/** The right to run Ponder on a schema: a lock of a connection, which ends with this process at the latest. */
export type SchemaLock = {
  /** Resolves when the connection is lost, or does not answer: another process may then hold the lock. */
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
  const releasing = new AbortController();
  const release = async () => {
    releasing.abort();
    await close(holder);
  };
  try {
    await holder.connect();
    await client.connect();
    await waitForLock(holder, schema, signal, logger);
    await waitForPonder(client, schema, signal, logger);
    await clearPonderLock(client, schema);
    const silent = waitUntilSilent(holder, releasing.signal);
    return { lost: Promise.race([lost, silent]), release };
  } catch (error) {
    await release();
    throw error;
  } finally {
    await close(client);
  }
}

/** Resolves when the server does not answer on a connection; a network that is gone may close none. */
async function waitUntilSilent(client: pg.Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(askEveryMs, signal);
    if (signal.aborted) break;
    try {
      await client.query("select 1");
    } catch {
      return;
    }
  }
}

async function close(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), closeMs);
  await client.end().catch(() => {});
  clearTimeout(timer);
}

function connection(databaseUrl: string): pg.Client {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: "indexer schema lock",
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    ...keptAlive,
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
