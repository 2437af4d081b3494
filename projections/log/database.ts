import { createHash } from "node:crypto";
import {
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type QueryCompiler,
  type QueryExecutorProvider,
} from "kysely";
import pg from "pg";
import { DatabaseUnavailable, ServerSilent, statementFailure } from "./database-failure.ts";
import { VersionedNames } from "./versions.ts";

/** A connection pool. Statements are written as SQL. */
export type Database = Kysely<Record<string, never>>;
/** What carries out statements: a pool, a transaction on one of its connections, or one that pipelines. */
export type Session = QueryExecutorProvider;

const { builtins } = pg.types;

/** What the driver returns: bytea as lower-case 0x hex, int8 and numeric(78,0) as bigint, times as Date. */
const parsers: Record<number, (text: string) => unknown> = {
  [builtins.BYTEA]: (text) => `0x${text.slice(2)}`,
  [builtins.INT8]: BigInt,
  [builtins.NUMERIC]: BigInt,
};

/** The driver's type parsers, for pools and for single clients alike. */
export const driverTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    (format === "text" || format === undefined ? parsers[oid] : undefined) ??
    pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig["getTypeParser"],
};

/** Where a database is reached, and whether by a pooler. */
export type DatabaseAddress = {
  readonly url: string;
  /** A pooler takes no named statements, and settings for a transaction alone. */
  readonly isPooled?: boolean;
};

export type DatabaseOptions = DatabaseAddress & {
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Connections at most. */
  max?: number;
  /** Milliseconds a statement may take; 0 is no limit. */
  statementTimeoutMs?: number;
  /** Milliseconds to wait for a connection, be it to be opened or to become free. */
  connectionTimeoutMs?: number;
  /** Milliseconds a transaction may wait for its next statement before the server ends it; 0 is no limit. */
  idleInTransactionTimeoutMs?: number;
  /**
   * Whether statements are prepared, for who makes the same ones again and again; or the first how many of each
   * connection, where callers decide how they differ: each keeps its plan there.
   */
  prepares?: boolean | number;
  /** Whether a prepared statement is planned once, for any values: where all of them concern few rows. */
  plansOnce?: boolean;
  /**
   * Whether a connection sends statements before those before them are answered, where a transaction has several callers
   * (`pipelined`). Not through a pooler.
   */
  pipelines?: boolean;
  /** Told of each statement that was carried out, as the server gets it. */
  onStatement?: (text: string) => void;
  /** Told of errors on idle connections (a database that went away); the pool itself reconnects. */
  onIdleError: (error: Error) => void;
};

/** A database that does not answer is a fault, not a wait without end. */
const CONNECTION_TIMEOUT_MS = 10_000;

/**
 * An idle connection is kept this long. A new one costs a process of the server, the exchange of a password and every
 * plan anew, and those that a busy moment opened would end together.
 */
const IDLE_CONNECTION_MS = 300_000;

/** Settings of connections that ask an idle server whether it is still there: one that is gone may send nothing more. */
export const keptAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/** The server ends a statement in time; when nothing is heard of it for twice as long, the server is gone. */
const answerTimeoutMs = (statementTimeoutMs: number) => 2 * statementTimeoutMs + 1_000;

/**
 * Opens a pool. It connects on first use; `destroy()` closes it. Statements throw `DatabaseUnavailable` while there is
 * no server to answer them, and the first one after that connects again.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const { statementTimeoutMs = 0, idleInTransactionTimeoutMs = 0, isPooled = false } = options;
  const pipelines = options.pipelines === true && !isPooled;
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.max ?? 10,
    ...(!isPooled && sessionSettings(options)),
    connectionTimeoutMillis: options.connectionTimeoutMs ?? CONNECTION_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    ...keptAlive,
    types: driverTypes,
    pipeline: pipelines,
  });
  pool.on("error", options.onIdleError);
  // The pool listens to idle connections only; unheard, the end of one in use would end the process.
  pool.on("connect", (client) => client.on("error", (error) => noteEnd(client, error)));
  const limits = { statementTimeoutMs, idleInTransactionTimeoutMs };
  const answerMs = statementTimeoutMs > 0 ? answerTimeoutMs(statementTimeoutMs) : 0;
  const dialect = new VersionedDialect({
    pool: isPooled
      ? wrapping(pool, (send) => sendPooled(send, limits), answerMs)
      : preparing(pool, mostNames(options), answerMs),
  });
  const { onStatement } = options;
  const db: Database = new Kysely({
    dialect,
    ...(onStatement && { log: ({ query }) => onStatement(query.sql) }),
  });
  if (pipelines) pipelining.add(db);
  if (!isPooled && mostNames(options) > 0) planning.add(db);
  return db;
}

/** What ended a connection: the driver says of the statements after it only that they cannot be sent. */
const ends = new WeakMap<pg.PoolClient, Error>();

/** The first error is the server's own word, where it gave one; that the connection is gone follows. */
function noteEnd(client: pg.PoolClient, error: Error): void {
  if (!ends.has(client)) ends.set(client, error);
}

const pipelining = new WeakSet<Database>();
const planning = new WeakSet<Database>();

/** Whether the connections of a database pipeline. */
export const pipelines = (db: Database): boolean => pipelining.has(db);

/** Whether the connections of a database prepare statements, and so may use a plan again. */
export const reusesPlans = (db: Database): boolean => planning.has(db);

/** Settings of a connection, which the server applies when it is opened. */
function sessionSettings({
  statementTimeoutMs = 0,
  idleInTransactionTimeoutMs = 0,
  plansOnce = false,
}: DatabaseOptions): pg.ClientConfig {
  return {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    ...(plansOnce && { options: "-c plan_cache_mode=force_generic_plan" }),
  };
}

const mostNames = ({ prepares = false }: DatabaseOptions) =>
  prepares === true ? Number.POSITIVE_INFINITY : Number(prepares);

/** Statements that a reader's connection prepares at most: callers ask lists with ever other filters. */
export const mostPrepared = 300;

/**
 * A pool whose connections prepare their first `most` statements, and which tells failures of the server apart, such as
 * no answer for `answerMs`; 0 is no limit.
 */
export const preparing = (pool: pg.Pool, most: number, answerMs = 0): PostgresPool =>
  wrapping(pool, (send) => sendNamed(send, most), answerMs);

type Send = (query: pg.QueryConfig) => Promise<pg.QueryResult | pg.QueryResult[]>;

/** A pool whose connections send statements in their own way. */
function wrapping(pool: pg.Pool, sending: (send: Send) => Send, answerMs: number): PostgresPool {
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw new DatabaseUnavailable(error);
      });
      const known = clients.get(client) ?? wrappedClient(client, sending, answerMs);
      clients.set(client, known);
      return known;
    },
    end: () => pool.end(),
  };
}

function wrappedClient(
  client: pg.PoolClient,
  sending: (send: Send) => Send,
  answerMs: number,
): PostgresPoolClient {
  const send = sending((query) => sendToDriver(client, query, answerMs));
  let unanswered: DatabaseUnavailable | undefined;
  const query = async (text: string, values: readonly unknown[]) => {
    // The statements that follow, a rollback for one, would wait as long.
    if (unanswered !== undefined) throw unanswered;
    try {
      return lastOf(await send({ text, values: [...values] }));
    } catch (error) {
      if (error instanceof ServerSilent) unanswered = new DatabaseUnavailable(error);
      const failure = statementFailure(error);
      const end = ends.get(client);
      throw failure instanceof DatabaseUnavailable && end ? new DatabaseUnavailable(end) : failure;
    }
  };
  const release = () => client.release(unanswered);
  // Cursors, the other thing that may be asked of it, are not used.
  return { query, release } as unknown as PostgresPoolClient;
}

/** Sends a connection's first `most` statements prepared, by a name. */
function sendNamed(send: Send, most: number): Send {
  const names = new Map<string, string>();
  return async (query) => {
    if (isOfTransaction(query.text)) return await send(query);
    const name = names.get(query.text) ?? (names.size < most ? nameOf(query.text) : null);
    if (name === null) return await send(query);
    names.set(query.text, name);
    return await send({ ...query, name });
  };
}

/** What begins or ends a transaction is not prepared: it may be several statements, sent together. */
const isOfTransaction = (text: string): boolean => /^\s*(begin|commit|rollback)\b/.test(text);

/** The driver gives a result for each statement of a text. */
const lastOf = <Result>(result: Result | Result[]): Result | undefined =>
  Array.isArray(result) ? result.at(-1) : result;

const nameOf = (text: string) => createHash("sha1").update(text).digest("base64url");

type SendQuery = (query: pg.QueryConfig) => Promise<pg.QueryResult | pg.QueryResult[]>;

/** What ends a statement, or a transaction that waits for its next one. Milliseconds; 0 is no limit. */
type Limits = { readonly statementTimeoutMs: number; readonly idleInTransactionTimeoutMs: number };

/**
 * Sends statements through a pooler, which takes no settings of a connection and keeps none from one transaction to the
 * next (PgBouncer: `pool_mode = transaction`): each transaction sets its limits as it begins, and a statement outside of
 * one gets a transaction of its own.
 */
function sendPooled(send: SendQuery, limits: Limits): SendQuery {
  const settings = settingsOf(limits);
  let isInTransaction = false;
  const begin = async (query: pg.QueryConfig) => {
    const result = await send({ ...query, text: query.text.replace(beginning, `$&; ${settings}`) });
    isInTransaction = true;
    return result;
  };
  return async (query) => {
    if (beginning.test(query.text)) return await begin(query);
    if (ending.test(query.text)) isInTransaction = false;
    else if (!isInTransaction) return await inTransaction(send, settings, query);
    return await send(query);
  };
}

const beginning = /^\s*(begin|start transaction)\b[^;]*/i;
const ending = /^\s*(commit|rollback)\b/i;

function settingsOf({ statementTimeoutMs, idleInTransactionTimeoutMs }: Limits): string {
  return (
    `set local statement_timeout = ${statementTimeoutMs}; ` +
    `set local idle_in_transaction_session_timeout = ${idleInTransactionTimeoutMs}`
  );
}

async function inTransaction(send: SendQuery, settings: string, query: pg.QueryConfig) {
  await send({ text: `begin; ${settings}` });
  try {
    const result = await send(query);
    await send({ text: "commit" });
    return result;
  } catch (error) {
    await send({ text: "rollback" }).catch(() => undefined);
    throw error;
  }
}

type Answer = pg.QueryResult | pg.QueryResult[];

/**
 * Sends a statement and waits for its answer, at most `answerMs` (0: without limit; then `ServerSilent`, and the
 * connection is of no more use). The driver's promises and its `query_timeout` are avoided: both keep each answer with
 * all of its rows until a full garbage collection, so that a scavenge of a busy reader copies them time and again.
 */
function sendToDriver(
  client: pg.ClientBase,
  query: pg.QueryConfig,
  answerMs: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = answerMs > 0 ? setTimeout(() => reject(new ServerSilent()), answerMs) : undefined;
    const answered = (error: Error | null, answer: Answer): void => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(answer);
    };
    void client.query(query, answered);
  });
}

/** PostgreSQL, where SQL names tables of projections without their versions. */
export class VersionedDialect extends PostgresDialect {
  override createQueryCompiler(): QueryCompiler {
    return new VersionedNames();
  }
}
