import { readFileSync } from "node:fs";
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from "kysely";
import pg from "pg";
import { type Database, driverTypes, mostPrepared, preparing } from "../../projections/database.ts";

/**
 * What statements took: `ms` as their client sees them, planning, transfer and reading of the rows included; `cpuMs` of
 * the processors that the server spent on them, which other work on the machine does not add to.
 */
export type Spent = { ms: number; cpuMs: number; statements: number };

export type Meter = {
  /** A database of its own over the same connections: what is kept for another one is not found. */
  open(): Database;
  /** Of the statements since the last call. */
  take(): Spent;
  close(): Promise<void>;
};

/** Of a server on this machine, whose connections prepare as those of the API's readers do. */
export function openMeter(url: string): Meter {
  const plain = new pg.Pool({ connectionString: url, max: 10, types: driverTypes });
  // The server may end before a connection has: what failed is told by statements, not by idle ones.
  plain.on("error", () => {});
  const pool = preparing(plain, mostPrepared);
  let spent = nothing;
  const clients = new WeakMap<PostgresPoolClient, PostgresPoolClient>();
  const metered = async (client: PostgresPoolClient): Promise<PostgresPoolClient> => {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid", []);
    const pid = rows[0]?.pid ?? 0;
    const query = async (text: string, values: readonly unknown[]) => {
      const [begun, begunCpu] = [performance.now(), cpuMsOf(pid)];
      const result = await client.query(text, values);
      const { ms, cpuMs, statements } = spent;
      spent = {
        ms: ms + performance.now() - begun,
        cpuMs: cpuMs + cpuMsOf(pid) - begunCpu,
        statements: statements + 1,
      };
      return result;
    };
    // Cursors, the other thing that may be asked of it, are not used.
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
    open: () => new Kysely({ dialect: new PostgresDialect({ pool: meteredPool }) }),
    take() {
      const taken = spent;
      spent = nothing;
      return taken;
    },
    close: () => pool.end(),
  };
}

const nothing: Spent = { ms: 0, cpuMs: 0, statements: 0 };

/** Time that a process was on a processor; the first number of its schedstat is nanoseconds. */
function cpuMsOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}
