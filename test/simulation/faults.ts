import { Kysely, PostgresDialect, type PostgresPool } from "kysely";
import pg from "pg";
import { type Database, driverTypes } from "../../projections/database.ts";
import type { Random } from "./random.ts";

/** What goes wrong at a statement: it is not sent, its answer is lost, or the connection breaks under it. */
type Fault = { at: number | "commit"; how: "unsent" | "unanswered" | "cut" };

class Injected extends Error {}

export type FaultyDatabase = {
  db: Database;
  /** Runs an operation with a fault somewhere in it, again and again until none strikes. Returns the last answer. */
  survive<T>(random: Random, statements: number, operation: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** A pool whose statements fail on demand. */
export function openFaulty(url: string): FaultyDatabase {
  const pool = new pg.Pool({ connectionString: url, types: driverTypes, max: 4 });
  pool.on("connect", (client) => client.on("error", () => {}));
  pool.on("error", () => {});
  const faults: { planned: Fault | null; seen: number } = { planned: null, seen: 0 };
  const db: Database = new Kysely({ dialect: new PostgresDialect({ pool: wrap(pool, faults) }) });
  return {
    db,
    close: () => db.destroy(),
    async survive(random, statements, operation) {
      for (;;) {
        faults.seen = 0;
        faults.planned = random.chance(0.6) ? plan(random, statements) : null;
        try {
          return await operation();
        } catch (error) {
          if (faults.planned === null) throw error;
        } finally {
          faults.planned = null;
        }
      }
    },
  };
}

function plan(random: Random, statements: number): Fault {
  const how = random.pick(["unsent", "unanswered", "cut"] as const);
  return { at: random.chance(0.3) ? "commit" : random.int(0, statements), how };
}

function wrap(pool: pg.Pool, faults: { planned: Fault | null; seen: number }): PostgresPool {
  const query = async (client: pg.PoolClient, text: string, values: unknown[]) => {
    if (text === "rollback") return await client.query(text);
    const { planned } = faults;
    const strikes =
      planned !== null &&
      (planned.at === "commit" ? text === "commit" : planned.at === faults.seen);
    faults.seen += 1;
    if (!strikes) return await client.query(text, values);
    if (planned.how === "unsent") throw new Injected("not sent");
    if (planned.how === "cut") {
      const broken = client.query(text, values);
      breakConnection(client);
      return await broken;
    }
    await client.query(text, values);
    throw new Injected("no answer");
  };
  const connect = async () => {
    const client = await pool.connect();
    return {
      query: (text: string, values: unknown[]) => query(client, text, values),
      release: () => client.release(),
    };
  };
  return { connect, end: () => pool.end() } as unknown as PostgresPool;
}

function breakConnection(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}
