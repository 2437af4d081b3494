import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInstantKey } from "#api/keys/stored-keys.ts";
import { analystLimits } from "#jobs/database-upkeep.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { bindViews } from "#projections/analytics/bind-views.ts";
import { rebuild } from "#projections/engine/rebuild.ts";
import { withLock } from "#projections/log/named-lock.ts";
import { appendTrades, operate, prepare, projections } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

const role = `limits_${process.pid}`;
const older = `older_${process.pid}`;
const password = "correct-horse-battery";

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  folder = await mkdtemp(join(tmpdir(), "limits-"));
  await writeFile(join(folder, "password"), password);
  await appendTrades(database.db, 1, 5);
  await prepare(database.db);
  await grant();
});
afterAll(async () => {
  for (const one of [role, older]) {
    await sql`drop owned by ${sql.id(one)}`.execute(database.db).catch(() => {});
    await sql`drop role if exists ${sql.id(one)}`.execute(database.db).catch(() => {});
  }
  await rm(folder, { recursive: true, force: true });
  await database.drop();
});

const grant = (...args: string[]) =>
  operate(
    database.url,
    ...["analysts", "grant", role, "--password-file", join(folder, "password"), ...args],
  );

/** A connection of the analyst, who has switched off every limit that it may. */
async function connect(user = role): Promise<pg.Client> {
  const url = new URL(database.url);
  url.username = user;
  url.password = password;
  const client = new pg.Client({ connectionString: url.href });
  client.on("error", () => {});
  await client.connect();
  await client.query(`set default_transaction_read_only = off; set statement_timeout = 0;
                      set idle_in_transaction_session_timeout = 0; set lock_timeout = 0`);
  return client;
}

/** The code of a statement's error, or "done". */
async function attempt(client: pg.Client, statement: string): Promise<unknown> {
  return await client.query(statement).then(
    () => "done",
    (error: { code?: string }) => error.code,
  );
}

describe("an analyst's role", () => {
  it("takes no lock, writes nothing and notifies by no function, whatever it sets", async () => {
    const client = await connect();
    const statements = [
      "select pg_advisory_lock(1)",
      "select pg_advisory_xact_lock(1, 2)",
      "select pg_try_advisory_lock_shared(1)",
      "create temporary table mine as select 1",
      "create table public.mine ()",
      "create schema mine",
      "select lo_create(0)",
      "select lo_from_bytea(0, 'a')",
      "select pg_notify('log', '1')",
      "select pg_logical_emit_message(false, 'a', 'b')",
      "select txid_current()",
      "do $$ begin lock table locks.migrations in access share mode; end $$",
      "do $$ begin lock table ops.analyst in access share mode; end $$",
      `alter role ${role} connection limit 1000`,
    ];
    for (const statement of statements) {
      expect([statement, await attempt(client, statement)]).toEqual([statement, "42501"]);
    }
    expect(await attempt(client, "select * from analytics.sales")).toBe("done");
    await client.end();
  });

  it("stops no rebuild, migration or key by the advisory locks that these took before", async () => {
    const { db } = database;
    const keys = [
      "shadow schemas of sales",
      "instant key 192.0.2.1",
      "analytics",
      "ponder ponder_1_aaaaaaaa",
    ];
    await db.connection().execute(async (holder) => {
      for (const key of keys)
        await sql`select pg_advisory_lock(hashtextextended(${key}, 0))`.execute(holder);
      await sql`select pg_advisory_lock(3853314791062309107)`.execute(holder);
      try {
        for (const projection of projections.filter(({ name }) => name === "sales"))
          await rebuild(db, projection, () => {}, bindViews);
        await migrate(db);
        expect(await createInstantKey(db, "192.0.2.1", null)).toHaveProperty("key");
      } finally {
        await sql`select pg_advisory_unlock_all()`.execute(holder);
      }
    });
  });

  it("loses its connection when a transaction lasts longer than its limit, busy or idle", async () => {
    await grant("--timeout", "1");
    const [busy, idle] = await Promise.all([connect(), connect()]);
    await idle.query("begin; select * from analytics.sales");
    const idleEnds = new Promise((resolve) => idle.once("end", resolve));
    const stop = new AbortController();
    const logger = pino({ level: "silent" });
    const job = runJobs(analystLimits({ db: database.db, logger }), {
      logger,
      signal: stop.signal,
    });
    expect(await attempt(busy, "select pg_sleep(600)")).toBe("57P01");
    await idleEnds;
    stop.abort();
    await job;
  });
});

describe("op doctor", () => {
  const faults = async () => {
    const { out } = await operate(database.url, "doctor", "--json");
    const { findings } = JSON.parse(out) as { findings: { about: string; finding: string }[] };
    return findings.filter(({ about }) => about.startsWith("analyst")).map((one) => one.finding);
  };

  it("finds nothing of a role that op granted, and what one may do that was granted by hand", async () => {
    const { db } = database;
    expect(await faults()).toEqual([]);

    await sql.raw(`create role ${older} login password '${password}'`).execute(db);
    await sql.raw(`grant usage on schema analytics to ${older}`).execute(db);
    await sql.raw("grant execute on function pg_notify(text, text) to public").execute(db);
    await sql
      .raw(`grant temporary on database "${new URL(database.url).pathname.slice(1)}" to ${older}`)
      .execute(db);

    expect((await faults()).toSorted()).toEqual([
      "may create temporary tables",
      "may keep transactions open without a limit",
      "may open any number of connections",
      "may send notifications by a function",
      "may send notifications by a function",
    ]);
  });
});

describe("a lock of ours", () => {
  it("keeps neither a snapshot nor a transaction id while it is held, and others wait for it", async () => {
    const { db } = database;
    const order: string[] = [];
    let second: Promise<void> = Promise.resolve();
    await withLock(db, "a test's", async () => {
      second = withLock(db, "a test's", async () => void order.push("second"));
      const { rows } = await sql`
        select a.backend_xid, a.backend_xmin, a.state
        from pg_locks l join pg_stat_activity a on a.pid = l.pid
        where l.relation = 'locks."a test''s"'::regclass and l.granted`.execute(db);
      expect(rows).toEqual([
        { backend_xid: null, backend_xmin: null, state: "idle in transaction" },
      ]);
      order.push("first");
    });
    await second;
    expect(order).toEqual(["first", "second"]);
  });
});
