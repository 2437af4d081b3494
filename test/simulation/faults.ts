import { Kysely, PostgresDialect, type PostgresPool } from "kysely";
import pg from "pg";
import { type Database, driverTypes } from "../../projections/database.ts";
import type { Random } from "./random.ts";

/** What goes wrong at a statement: it is not sent, its answer is lost, or the connection breaks under it. */
type Fault = { at: number | "commit"; how: "unsent" | "unanswered" | "cut" };

type Faults = { planned: Fault | null; seen: number };

class Injected extends Error {}

export type FaultyDatabase = {
  db: Database;
  /**
   * Runs an operation with a fault somewhere in it, again and again until none strikes. Errors with no fault are its
   * own. A fault strikes any of as many statements as operations of the name were seen to make.
   */
  survive<T>(random: Random, name: string, operation: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** A pool whose statements fail on demand. */
export function openFaulty(url: string): FaultyDatabase {
  const pool = new pg.Pool({ connectionString: url, types: driverTypes, max: 4 });
  pool.on("connect", (client) => client.on("error", () => {}));
  pool.on("error", () => {});
  const faults: Faults = { planned: null, seen: 0 };
  const statements = new Map<string, number>();
  const db: Database = new Kysely({ dialect: new PostgresDialect({ pool: wrap(pool, faults) }) });
  return {
    db,
    close: () => db.destroy(),
    async survive(random, name, operation) {
      const run = async (planned: Fault | null) => {
        faults.seen = 0;
        faults.planned = planned;
        try {
          return await operation();
        } finally {
          faults.planned = null;
          statements.set(name, Math.max(statements.get(name) ?? 1, faults.seen));
        }
      };
      while (random.chance(0.5)) {
        const outcome = await run(plan(random, statements.get(name) ?? 1)).then(
          (answer) => ({ answer }),
          () => null,
        );
        if (outcome !== null) return outcome.answer;
      }
      return await run(null);
    },
  };
}

function plan(random: Random, statements: number): Fault {
  const how = random.pick(["unsent", "unanswered", "cut"] as const);
  return { at: random.chance(0.3) ? "commit" : random.int(0, statements - 1), how };
}

function wrap(pool: pg.Pool, faults: Faults): PostgresPool {
  const connect = async () => {
    const client = await pool.connect();
    return {
      query: (text: string, values: unknown[]) => query(client, faults, text, values),
      release: () => client.release(),
    };
  };
  return { connect, end: () => pool.end() } as unknown as PostgresPool;
}

async function query(client: pg.PoolClient, faults: Faults, text: string, values: unknown[]) {
  const how = text === "rollback" ? null : strike(faults, text);
  if (how === "unsent") throw new Injected("not sent");
  const answer = client.query(text, values);
  if (how === "cut") breakConnection(client);
  const result = await answer;
  if (how === "unanswered") throw new Injected("no answer");
  return result;
}

/** What goes wrong at the statement that comes next. */
function strike(faults: Faults, text: string): Fault["how"] | null {
  const { planned } = faults;
  const place = faults.seen;
  faults.seen += 1;
  if (planned === null) return null;
  const strikes = planned.at === "commit" ? text === "commit" : planned.at === place;
  return strikes ? planned.how : null;
}

function breakConnection(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}
