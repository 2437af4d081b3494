import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { startPostgres } from "#ops/postgres/embedded.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { dropTarget, readCheckpoints } from "#projections/engine/checkpoint.ts";
import type { Projection, Step } from "#projections/engine/projection.ts";
import { prepareProjections, rebuild } from "#projections/engine/rebuild.ts";
import { verify } from "#projections/engine/verify.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { dumpTable } from "../support/database/given.ts";
import {
  appendTrades,
  operate,
  prepare,
  projections,
  startOperator,
} from "../support/database/operator.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await appendTrades(database.db, 1, 60);
});
afterAll(() => database.drop());

const inStep = { timeout: 120_000, interval: 10 };
const slow = 180_000;

/** Names of the steps that a killed rebuild had committed; empty where none is under way. */
async function stepsDone(db: Database, name: string): Promise<string[]> {
  const { rows } = await sql<{ done: string[] }>`
    select done from ${sql.table(`${schemaOf(name)}_next.bulk_progress`)}`
    .execute(db)
    .catch(() => ({ rows: [] }));
  return rows[0]?.done ?? [];
}

/** Does something when a rebuild has derived all of its rows and cannot come to its end. */
async function beforeItsEnd(db: Database, name: string, act: () => Promise<void>): Promise<void> {
  const lock = sql`hashtextextended('end', 0)`;
  await sql`
    create or replace function await_end() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(hashtextextended('end', 0)); return new; end $$`.execute(
    db,
  );
  await sql`
    create or replace trigger await_end before insert on engine.checkpoint
    for each row execute function await_end()`.execute(db);
  await db.transaction().execute(async (session) => {
    await sql`select pg_advisory_xact_lock(${lock})`.execute(session);
    await vi.waitFor(
      async () => expect(await stepsDone(db, name)).toContain("index cancel_maker"),
      inStep,
    );
    await act();
  });
}

async function differing(db: Database, name: string): Promise<bigint> {
  const projection = projections.find((one) => one.name === name);
  if (projection === undefined) throw new Error(`no projection ${name}`);
  return (await verify(db, projection, { maxExamples: 0, onProgress: () => {} })).different;
}

describe("a derivation in bulk that fails in the middle", () => {
  afterEach(async () => {
    for (const schema of ["tokens", "tokens_next", "tokens_previous"]) {
      await dropTarget(database.db, schema);
    }
  });

  /** Three steps, the second in three parts; each notes that it ran. */
  function tokens(ran: string[], fails: { at: string | null }, version = 1): Projection {
    const note = (name: string) => {
      ran.push(name);
      if (name === fails.at) throw new Error("out of luck");
    };
    const step = (name: string, thirds: number): Step => ({
      name,
      async derive(session, schema, window, part) {
        note(thirds === 1 ? name : `${name} ${part}`);
        await sql`
          insert into ${sql.id(schema, "seen")}
          select position, ${name} from ${window.changes} where position % ${thirds} = ${part}`.execute(
          session,
        );
        return { done: part + 1, of: thirds };
      },
    });
    return {
      name: "tokens",
      version,
      tables: (schema) => [
        `create table ${schema}.seen (position bigint, step text, primary key (position, step))`,
      ],
      apply: async (session, schema, window) => {
        for (const name of ["first", "second", "third"]) {
          await sql`
            insert into ${sql.id(schema, "seen")} select position, ${name} from ${window.changes}`.execute(
            session,
          );
        }
      },
      deriveAll: [step("first", 1), step("second", 3), step("third", 1)],
    };
  }

  const prepared = (projection: Projection) =>
    prepareProjections(database.db, [projection], () => {});

  it("goes on behind the last part that it committed, at the position where it began", async () => {
    const ran: string[] = [];
    const fails: { at: string | null } = { at: "second 1" };
    await expect(prepared(tokens(ran, fails))).rejects.toThrow("out of luck");
    expect([...(await readCheckpoints(database.db)).keys()]).toEqual([]);
    await appendTrades(database.db, 61, 62);
    fails.at = "third";
    await expect(prepared(tokens(ran, fails))).rejects.toThrow("out of luck");
    fails.at = null;

    await prepared(tokens(ran, fails));

    expect(ran.join()).toBe("first,second 0,second 1,second 1,second 2,third,third");
    const resumed = await dumpTable(database.db, "tokens.seen");
    expect(resumed).toHaveLength(3 * 62 * 3);
    await rebuild(database.db, tokens([], fails), () => {});
    expect(await dumpTable(database.db, "tokens.seen")).toEqual(resumed);
  });

  it("starts over when a step has another name or the version was raised", async () => {
    const fails: { at: string | null } = { at: "third" };
    const ran: string[] = [];
    await expect(prepared(tokens(ran, fails))).rejects.toThrow("out of luck");
    await expect(prepared(tokens(ran, fails, 2))).rejects.toThrow("out of luck");
    const { deriveAll = [], ...rest } = tokens(ran, { at: null }, 2);
    const renamed = deriveAll.map((step, index) => ({ ...step, name: `${step.name} ${index}` }));

    await prepared({ ...rest, deriveAll: renamed });

    expect(ran.filter((name) => name === "first")).toHaveLength(3);
    expect(await dumpTable(database.db, "tokens.seen")).toHaveLength(3 * 62 * 3);
  });
});

describe("op rebuild that was killed", () => {
  beforeAll(async () => {
    await prepare(database.db);
  });

  it(
    "resumes after its last committed step, says so, and ends with the same rows",
    async () => {
      const { db, url } = database;
      const child = startOperator(url, ["rebuild", "activity"]);
      await beforeItsEnd(db, "activity", async () => {
        child.kill("SIGKILL");
        await once(child, "exit");
      });

      const { code, words, out } = await operate(url, "rebuild", "activity");

      expect(code).toBe(0);
      expect(words).toMatch(/^resuming the rebuild started 2\S+Z /);
      expect(out).toMatch(/^activity rebuilt/);
      expect(await differing(db, "activity")).toBe(0n);
    },
    slow,
  );

  it(
    "skips what it had swapped in, and derives that again with --anew",
    async () => {
      const { db, url } = database;
      const child = startOperator(url, ["rebuild", "coin_prices"]);
      const words = text(child.stderr);
      await db.connection().execute(async (connection) => {
        const lock = sql`hashtextextended('shadow schemas of collection_stats', 0)`;
        await vi.waitFor(
          async () => expect(await stepsDone(db, "coin_prices")).not.toEqual([]),
          inStep,
        );
        await sql`select pg_advisory_lock(${lock})`.execute(connection);
        await vi.waitFor(
          async () =>
            expect((await readCheckpoints(db)).has(`${schemaOf("coin_prices")}_previous`)).toBe(
              true,
            ),
          inStep,
        );
        child.kill("SIGKILL");
        await once(child, "exit");
        await sql`select pg_advisory_unlock(${lock})`.execute(connection);
      });
      expect(await words).not.toContain("resuming");

      const second = await operate(url, "rebuild", "coin_prices");
      const third = await operate(url, "rebuild", "coin_prices", "--anew", "--json");

      expect(second.words).toContain("finished: coin_prices");
      expect(second.out).toMatch(/^collection_stats rebuilt/);
      expect(JSON.parse(third.out)).toMatchObject({
        rebuilt: [{ projection: "coin_prices" }, { projection: "collection_stats" }],
      });
    },
    slow,
  );
});

it(
  "op rebuild resumes from what was on disk when PostgreSQL itself was killed, and has swapped schemas when it ends",
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "resume-"));
    const options = { dataDir, logger: pino({ level: "silent" }) };
    let server = await startPostgres(options);
    const open = () =>
      openDatabase({ url: server.url, applicationName: "test", onIdleError: () => {} });
    const kill = async () => {
      process.kill(server.pid, "SIGKILL");
      return await server.exited;
    };
    const startAgain = async () => {
      server = await startPostgres({ ...options, port: server.port });
      return open();
    };
    try {
      let db = open();
      await migrate(db);
      await appendTrades(db, 1, 60);
      await prepare(db);
      const child = startOperator(server.url, ["rebuild", "activity"]);
      const over = once(child, "exit");
      const exits: string[] = [];
      const ending = beforeItsEnd(db, "activity", async () => {
        // A commit that waits for the disk waits for those before it.
        await sql`create table on_disk ()`.execute(db);
        exits.push(await kill());
      });
      await ending.catch(() => undefined);
      expect(exits).toEqual(["SIGKILL"]);
      await over;
      await db.destroy();
      db = await startAgain();

      const { code, words } = await operate(server.url, "rebuild", "activity");
      await kill();
      await db.destroy();
      db = await startAgain();

      expect(words).toContain("resuming the rebuild started");
      expect(code).toBe(0);
      expect((await readCheckpoints(db)).has(`${schemaOf("activity")}_previous`)).toBe(true);
      expect(await differing(db, "activity")).toBe(0n);
      await db.destroy();
    } finally {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  },
  slow,
);
