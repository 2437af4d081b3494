import { Kysely } from "kysely";
import pg from "pg";
import { type Database, driverTypes, VersionedDialect } from "#projections/log/database.ts";

/** A pool that waits for a connection as long as it takes: a long run gives way to all else on its machine. */
export function openWaitingPool(url: string, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, types: driverTypes, max: 4, ...options });
  pool.on("connect", (client) => client.on("error", () => {}));
  pool.on("error", () => {});
  return pool;
}

export function openSimulationDatabase(url: string): Database {
  return new Kysely({ dialect: new VersionedDialect({ pool: openWaitingPool(url) }) });
}
