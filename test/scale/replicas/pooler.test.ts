import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { configurationExitCode } from "#ops/config/read-config.ts";
import { findFreePort } from "#ops/free-port.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { launch } from "#ops/programs.ts";
import { checkPooler } from "#ops/reports/find-server-problems.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { type OwnServer, openOwnServer } from "#test/support/database/own-server.ts";
import { hasPgBouncer, openPgBouncer, type PgBouncer } from "#test/support/database/pgbouncer.ts";
import { until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { runOp } from "#test/support/processes/op.ts";
import { type StartedService, startService } from "#test/support/processes/start-service.ts";

/** Of PgBouncer to the server: a request that needs two at a time would wait for itself. */
const connections = 1;

let server: OwnServer;
let database: TestDatabase;
let bouncer: PgBouncer;
let pooled: string;

beforeAll(async () => {
  if (!hasPgBouncer) return;
  server = await openOwnServer();
  database = await createDatabase({ server: server.url });
  bouncer = await openPgBouncer(server.url, { mode: "transaction", connections });
  pooled = bouncer.through(database.url);
});
afterAll(async () => {
  await bouncer?.close();
  await database?.drop();
  await server?.close();
});

function open(url: string, options: Partial<Parameters<typeof openDatabase>[0]> = {}): Database {
  const db = openDatabase({ url, applicationName: "test", onIdleError: () => {}, ...options });
  onTestFinished(() => db.destroy());
  return db;
}

/** Fifty different statements, twenty times each, side by side. */
async function askMuch(db: Database): Promise<number> {
  const asked = Array.from({ length: 1_000 }, async (_, one) => {
    const { rows } = await sql<{ sum: number }>`
      select ${sql.raw(String(one % 50))} + ${one}::int as sum`.execute(db);
    return rows[0]?.sum === (one % 50) + one;
  });
  return (await Promise.all(asked)).filter(Boolean).length;
}

describe.runIf(hasPgBouncer)("a pool through PgBouncer in transaction mode", () => {
  it("is answered every statement of many sessions", async () => {
    const db = open(pooled, {
      isPooled: true,
      max: 20,
      prepares: true,
      statementTimeoutMs: 20_000,
    });
    expect(await askMuch(db)).toBe(1_000);
  });

  it("ends a statement at its own limit, in a transaction and outside of one", async () => {
    const hasty = open(pooled, { isPooled: true, statementTimeoutMs: 200 });
    const unlimited = open(pooled, { isPooled: true, statementTimeoutMs: 20_000 });
    const sleep = (db: Parameters<ReturnType<typeof sql>["execute"]>[0]) =>
      sql`select pg_sleep(0.6)`.execute(db);
    await expect(sleep(hasty)).rejects.toThrow("statement timeout");
    await expect(hasty.transaction().execute(sleep)).rejects.toThrow("statement timeout");
    await expect(
      hasty.transaction().setIsolationLevel("repeatable read").execute(sleep),
    ).rejects.toThrow("statement timeout");
    await Promise.all(Array.from({ length: connections }, () => sleep(unlimited)));
  });

  it("rolls back what fails, and goes on", async () => {
    const db = open(pooled, { isPooled: true, max: 1 });
    await sql`create table kept (number int)`.execute(db);
    const failing = db.transaction().execute(async (session) => {
      await sql`insert into kept values (1)`.execute(session);
      await sql`select 1 / 0`.execute(session);
    });
    await expect(failing).rejects.toThrow("division by zero");
    await expect(sql`select 1 / 0`.execute(db)).rejects.toThrow("division by zero");
    await sql`insert into kept values (2)`.execute(db);
    const { rows } = await sql<{ number: number }>`select number from kept`.execute(db);
    expect(rows).toEqual([{ number: 2 }]);
  });
});

describe.runIf(hasPgBouncer)("op doctor", () => {
  const findings = async (poolerUrl: string | null, url = database.url) =>
    (await checkPooler({ url, poolerUrl })).map(({ finding }) => finding);

  it("finds nothing wrong with a pooler in front of the database", async () => {
    expect(await findings(null)).toEqual([]);
    expect(await findings(pooled)).toEqual([]);
  });

  it("tells a pooler that is down, leads elsewhere, is none, or is where the database should be", async () => {
    const elsewhere = bouncer.through(server.url);
    const down = new URL(pooled);
    down.port = "1";
    expect(await findings(elsewhere)).toEqual([
      "DATABASE_POOLER_URL leads to another database than DATABASE_URL",
    ]);
    expect(await findings(database.url)).toEqual([
      "DATABASE_POOLER_URL leads to the database itself",
    ]);
    expect(await findings(down.href)).toEqual([expect.stringContaining("ECONNREFUSED")]);
    expect(await findings(null, pooled)).toEqual(["DATABASE_URL leads to a pooler"]);
  });

  it("says so when the database's own address is a pooler's", async () => {
    const { code, stderr } = await runOp({ DATABASE_URL: pooled }, "doctor");
    expect(code).not.toBe(0);
    expect(stderr).toContain("DATABASE_URL leads to a pooler");
  });
});

describe.runIf(hasPgBouncer)("a service", () => {
  const orphanGuard = startOrphanGuard();
  async function start(settings: Record<string, string>): Promise<StartedService> {
    const dataDir = await mkdtemp(join(tmpdir(), "pooled-service-"));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    return await startService({ dataDir, orphanGuard, settings });
  }

  /** What a service that does not start says. */
  async function refusalOf(settings: Record<string, string>): Promise<string> {
    const dataDir = await mkdtemp(join(tmpdir(), "pooled-service-"));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    const child = spawn(process.execPath, launch("service"), {
      env: {
        PATH: process.env.PATH,
        DATA_DIR: dataDir,
        PORT: `${await findFreePort()}`,
        ...settings,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const errors = text(child.stderr);
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(configurationExitCode);
    return await errors;
  }

  it("does not start over a pooler, nor with one in front of another database", async () => {
    expect(await refusalOf({ DATABASE_URL: pooled })).toContain(
      "DATABASE_URL: expected the address of the database itself, got that of a pooler",
    );
    const elsewhere = {
      DATABASE_URL: database.url,
      DATABASE_POOLER_URL: bouncer.through(server.url),
    };
    expect(await refusalOf(elsewhere)).toContain(
      "DATABASE_POOLER_URL leads to another database than DATABASE_URL",
    );
  });

  it("takes orders and shows sales with its requests through one connection of PgBouncer", async () => {
    const settings = { DATABASE_URL: database.url, DATABASE_POOLER_URL: pooled };
    const service = await start(settings);
    onTestFinished(() => service.end());
    const { db } = database;
    const count = async (kind: number) => {
      const { rows } = await sql<{ count: bigint }>`
        select count(*) as count from log.fact where kind = ${kind}`.execute(db);
      return rows[0]?.count ?? 0n;
    };
    const before = await count(factKind.order_submitted);
    await until("twenty orders more", async () => {
      return (await count(factKind.order_submitted)) >= before + 20n;
    });
    const { rows } = await sql<{ name: string; sessions: number }>`
      select application_name as name, count(*)::int as sessions from pg_stat_activity
      where datname = current_database() and application_name in ('api', 'api lists', 'api orders', 'api access', 'api accounts', 'api data version')
      group by 1`.execute(db);
    const sessions = rows.reduce((sum, one) => sum + one.sessions, 0);
    // One more: the count of calls, which every process stores on a connection of its own.
    expect(sessions).toBeLessThanOrEqual(connections + 1);
    const sales = await fetch(`${service.baseUrl}/v1/sales?chainId=33139`);
    expect([sales.status, ((await sales.json()) as { data: unknown[] }).data.length > 0]).toEqual([
      200,
      true,
    ]);
    const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();
    const faults = metrics
      .split("\n")
      .filter((line) => /^http_request.*status="5/.test(line) && !line.includes("/readyz"));
    expect(faults).toEqual([]);
    expect(service.output.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
    const doctor = await runOp(settings, "doctor");
    expect(`${doctor.stdout}${doctor.stderr}`).not.toContain("pooler");
  });
});
