import { createHash } from "node:crypto";
import { Kysely, type PostgresPool, type PostgresPoolClient, type Transaction } from "kysely";
import pg from "pg";
import { SteadyDialect } from "./introspection.ts";

/** A connection pool, or a transaction on one of its connections. Statements are written as SQL. */
export type Database = Kysely<Record<string, never>>;
export type Session = Database | Transaction<Record<string, never>>;

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

export type DatabaseOptions = {
  url: string;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Connections at most. */
  max?: number;
  /** Milliseconds a statement may take; 0 is no limit. */
  statementTimeoutMs?: number;
  /** Milliseconds a transaction may wait for its next statement before the server ends it; 0 is no limit. */
  idleInTransactionTimeoutMs?: number;
  /**
   * Whether statements are prepared, for who makes the same ones again and again; or the first how many of each
   * connection, where callers decide how they differ: each keeps its plan there.
   */
  prepares?: boolean | number;
  /** Whether a prepared statement is planned once, for any values: where all of them concern few rows. */
  plansOnce?: boolean;
  /** Told of errors on idle connections (a database that went away); the pool itself reconnects. */
  onIdleError: (error: Error) => void;
};

/** A database that does not answer is a fault, not a wait without end. */
const CONNECTION_TIMEOUT_MS = 10_000;

/** Opens a pool. It connects on first use; `destroy()` closes it. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.max ?? 10,
    statement_timeout: options.statementTimeoutMs ?? 0,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 0,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    ...(options.plansOnce ? { options: "-c plan_cache_mode=force_generic_plan" } : {}),
    types: driverTypes,
  });
  pool.on("error", options.onIdleError);
  // The pool listens to idle connections only; unheard, the end of one in use would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  const { prepares = false } = options;
  const most = prepares === true ? Number.POSITIVE_INFINITY : Number(prepares);
  const dialect = new SteadyDialect({ pool: most > 0 ? preparing(pool, most) : pool });
  return new Kysely({ dialect });
}

/** Statements that a reader's connection prepares at most: callers ask lists with ever other filters. */
export const mostPrepared = 300;

/** Statements that a connection makes again and again are planned once. */
export function preparing(pool: pg.Pool, most: number): PostgresPool {
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    async connect() {
      const client = await pool.connect();
      const known = clients.get(client) ?? preparingClient(client, most);
      clients.set(client, known);
      return known;
    },
    end: () => pool.end(),
  };
}

function preparingClient(client: pg.PoolClient, most: number): PostgresPoolClient {
  const names = new Map<string, string>();
  const query = (text: string, values: readonly unknown[]) => {
    const query = { text, values: [...values] };
    const name = names.get(text) ?? (names.size < most ? nameOf(text) : null);
    if (name === null) return client.query(query);
    names.set(text, name);
    return client.query({ ...query, name });
  };
  // Cursors, the other thing that may be asked of it, are not used.
  return { query, release: () => client.release() } as unknown as PostgresPoolClient;
}

const nameOf = (text: string) => createHash("sha1").update(text).digest("base64url");
