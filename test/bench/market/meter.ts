import { readFileSync } from "node:fs";
import { Kysely, type PostgresPool, type PostgresPoolClient } from "kysely";
import pg from "pg";
import {
  type Database,
  driverTypes,
  mostPrepared,
  preparing,
  VersionedDialect,
} from "#projections/log/database.ts";

/**
 * Cost of statements: `ms` as the client measures it, with planning, transfer and parsing of the rows; `cpuMs` of
 * the server's processor time, which other work on the machine does not increase.
 */
export type Spent = { ms: number; cpuMs: number; statements: number };

export type Meter = {
  /** A new database object over the same connections, so that nothing cached per database is found. */
  open(): Database;
  /** The cost of the statements since the last call. */
  take(): Spent;
  close(): Promise<void>;
};

/** Meters a server on this machine, with prepared statements as the API's connections use. */
export function openMeter(url: string): Meter {
  const plain = new pg.Pool({ connectionString: url, max: 10, types: driverTypes });
  // The server may stop before the connections close: failures surface in statements.
  plain.on("error", () => {});
  const pool = preparing(plain, mostPrepared);
  let spent = nothing;
  const clients = new WeakMap<PostgresPoolClient, PostgresPoolClient>();
  const metered = async (client: PostgresPoolClient): Promise<PostgresPoolClient> => {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid", []);
    const pid = rows[0]?.pid ?? 0;
    const query = async (text: string, values: readonly unknown[]) => {
      const [started, startedCpu] = [performance.now(), cpuMsOf(pid)];
      const result = await client.query(text, values);
      const { ms, cpuMs, statements } = spent;
      spent = {
        ms: ms + performance.now() - started,
        cpuMs: cpuMs + cpuMsOf(pid) - startedCpu,
        statements: statements + 1,
      };
      return result;
    };
    // Cursors are not used.
    return { query, release: () => client.release() } as unknown as PostgresPoolClient;
  };
  const meteredPool: PostgresPool = {
    async connect() {
      const client = await pool.connect();
      const known = clients.get(client) ?? (await metered(client));
      clients.set(client, known);
      return known;
    },
    end: async () => {},
  };
  return {
    open: () => new Kysely({ dialect: new VersionedDialect({ pool: meteredPool }) }),
    take() {
      const taken = spent;
      spent = nothing;
      return taken;
    },
    close: () => pool.end(),
  };
}

const nothing: Spent = { ms: 0, cpuMs: 0, statements: 0 };

/** A process's processor time; the first number of its schedstat is in nanoseconds. */
function cpuMsOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}
