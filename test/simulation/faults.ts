import { Kysely, type PostgresPool } from "kysely";
import type pg from "pg";
import { type Database, VersionedDialect } from "#projections/log/database.ts";
import { type Coverage, countAttempt } from "./coverage.ts";
import { openWaitingPool } from "./database.ts";
import type { Random } from "./random.ts";

/** What goes wrong at a statement: it is not sent, its answer is lost, or the connection breaks under it. */
type Fault = { at: number | "commit"; how: "unsent" | "unanswered" | "cut" };

type Struck = { how: Fault["how"]; place: number; commits: boolean };

type Faults = { planned: Fault | null; seen: number; struck: Struck | null };

class Injected extends Error {}

export type FaultyDatabase = {
  /** For who appends. */
  db: Database;
  /** For projectors: the plans of its connections are dear, and no appender's fault breaks them. */
  projector: Database;
  survivor(random: Random, rate: number, coverage: Coverage): Survivor;
  /** What a restarted process has lost: connections, their plans, tables of sessions. */
  restart(): Promise<void>;
  close(): Promise<void>;
};

export type Survivor = {
  /**
   * Runs an operation with a fault somewhere in it, again and again until none strikes. Errors with no fault are its
   * own. A fault strikes any of as many statements as operations of the name were seen to make.
   */
  survive<T>(name: Operation, operation: () => Promise<T>): Promise<T>;
};

type Operation = keyof typeof cutsOf;

/** Of so many faults of an operation one breaks its connection. A projector's next one plans all its statements again. */
const cutsOf = {
  append: 5,
  observe: 5,
  block_retracted: 3,
  block_readopted: 3,
  release: 3,
  tick: 12,
};

/** Pools whose statements fail on demand. */
export function openFaulty(url: string): FaultyDatabase {
  const faults: Faults = { planned: null, seen: 0, struck: null };
  const pools = [new Reopened(url), new Reopened(url)] as const;
  const [db, projector] = pools.map((pool): Database => {
    return new Kysely({ dialect: new VersionedDialect({ pool: wrap(pool, faults) }) });
  });
  if (db === undefined || projector === undefined) throw new Error("two pools are opened");
  return {
    db,
    projector,
    survivor: (random, rate, coverage) => survivor(faults, random, rate, coverage),
    async restart() {
      await Promise.all(pools.map((pool) => pool.restart()));
    },
    async close() {
      await Promise.all([db.destroy(), projector.destroy()]);
    },
  };
}

/** A pool that can be exchanged for a new one. */
class Reopened {
  readonly #url: string;
  now: pg.Pool;

  constructor(url: string) {
    this.#url = url;
    this.now = openPool(url);
  }

  async restart(): Promise<void> {
    const left = this.now;
    this.now = openPool(this.#url);
    await left.end();
  }
}

function openPool(url: string): pg.Pool {
  // Tables are small: a plan for any values is good, and made once.
  const options = "-c plan_cache_mode=force_generic_plan";
  return openWaitingPool(url, { idleTimeoutMillis: 0, options });
}

function survivor(faults: Faults, random: Random, rate: number, coverage: Coverage): Survivor {
  const statements = new Map<Operation, number>();
  const run = async <T>(name: Operation, planned: Fault | null, operation: () => Promise<T>) => {
    Object.assign(faults, { planned, seen: 0, struck: null });
    try {
      return await operation();
    } finally {
      faults.planned = null;
      statements.set(name, Math.max(statements.get(name) ?? 1, faults.seen));
      countAttempt(coverage, name, faults.seen, faults.struck);
    }
  };
  return {
    async survive(name, operation) {
      while (random.chance(rate)) {
        const planned = plan(random, name, statements.get(name) ?? 1);
        const outcome = await run(name, planned, operation).then(
          (answer) => ({ answer }),
          () => null,
        );
        if (outcome !== null) return outcome.answer;
      }
      return await run(name, null, operation);
    },
  };
}

function plan(random: Random, name: Operation, statements: number): Fault {
  const cuts = random.chance(1 / cutsOf[name]);
  const how = cuts ? "cut" : random.pick(["unsent", "unanswered"] as const);
  return { at: random.chance(0.3) ? "commit" : random.int(0, statements - 1), how };
}

function wrap(pool: Reopened, faults: Faults): PostgresPool {
  const names = new Map<string, string>();
  const connect = async () => {
    const client = await pool.now.connect();
    const query = async (text: string, values: unknown[]) => {
      const name = names.get(text) ?? `s${names.size}`;
      names.set(text, name);
      return await send(client, { name, text, values }, faults);
    };
    return { query, release: () => client.release() };
  };
  return { connect, end: () => pool.now.end() } as unknown as PostgresPool;
}

async function send(client: pg.PoolClient, query: pg.QueryConfig, faults: Faults) {
  const struck = query.text === "rollback" ? null : strike(faults, query.text);
  const how = struck !== null && staysWithConnection(query.text) ? "cut" : struck;
  if (how === "unsent") throw new Injected("not sent");
  const answer = client.query(query);
  if (how === "cut") breakConnection(client);
  const result = await answer;
  if (how === "unanswered") throw new Injected("no answer");
  return result;
}

/**
 * A transaction's beginning. Who does not know what became of it has lost the connection: it would stay, and whoever is
 * given the connection next would be in it unknowingly.
 */
const staysWithConnection = (text = "") => /^(begin|start transaction)/.test(text);

/** What goes wrong at the statement that comes next. */
function strike(faults: Faults, text: string): Fault["how"] | null {
  const { planned } = faults;
  const place = faults.seen;
  const commits = text === "commit";
  faults.seen += 1;
  if (planned === null) return null;
  const strikes = planned.at === "commit" ? commits : planned.at === place;
  if (!strikes) return null;
  faults.struck = { how: planned.how, place, commits };
  return planned.how;
}

function breakConnection(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}
