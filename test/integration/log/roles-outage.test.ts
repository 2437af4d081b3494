import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLogger } from "#ops/output/logger.ts";
import type { RunningRole } from "#ops/processes/roles/role.ts";
import { loadRole } from "#ops/processes/run-role.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { DatabaseUnavailable } from "#projections/log/database-failure.ts";
import { pipelineConfig, until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

let database: TestDatabase;
/** Of another database of the server. */
let admin: Database;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const url = new URL(database.url);
  url.pathname = "/postgres";
  admin = openDatabase({ url: url.href, applicationName: "administrator", onIdleError: () => {} });
});
afterAll(async () => {
  await admin?.destroy();
  await database?.drop();
});

const name = () => new URL(database.url).pathname.slice(1);

/** A database that takes no connection and has ended those that there were, until `work` is done. */
async function without(work: () => Promise<unknown>): Promise<void> {
  const allow = (isAllowed: boolean) =>
    sql`alter database ${sql.id(name())} with allow_connections ${sql.raw(`${isAllowed}`)}`.execute(
      admin,
    );
  await allow(false);
  try {
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name()}`.execute(
      admin,
    );
    await work();
  } finally {
    await allow(true);
  }
}

type Line = { level: number; msg: string; role?: string; err?: unknown };

async function startRole(role: "jobs" | "projector") {
  const lines: Line[] = [];
  const logger = createLogger(role, "info", (line) => void lines.push(JSON.parse(line)));
  const config = await pipelineConfig({
    databaseUrl: database.url,
    chains: [1, 33139].map((chainId) => ({ chainId, rpcUrl: "http://127.0.0.1:1" })),
  });
  const ending = new AbortController();
  const run = await loadRole(role);
  const running: RunningRole = await run({ config, logger, signal: ending.signal });
  const failure = running.failed.catch((error: Error) => error);
  return { lines, running, failure };
}

/** How often the role's lease was taken. */
async function epochOf(role: string): Promise<bigint> {
  const { rows } = await sql<{ epoch: bigint }>`
    select epoch from ops.lease where role = ${role}`.execute(database.db);
  return rows[0]?.epoch ?? 0n;
}

describe.each(["jobs", "projector"] as const)(
  "a database that goes away and comes back",
  (role) => {
    it(`ends nothing of the ${role}: one line of the cause, one of the lease, and it works again`, async () => {
      const { lines, running, failure } = await startRole(role);
      await running.ready;
      for (let outage = 1; outage <= 2; outage += 1) {
        const from = lines.length;
        const epoch = await epochOf(role);
        await without(() =>
          until("the lease to be lost", async () =>
            lines.slice(from).some(({ msg }) => msg === "work ended, standing by"),
          ),
        );
        await until("the lease to be taken again", async () => (await epochOf(role)) > epoch);
      }
      expect(await Promise.race([failure, "works"])).toBe("works");
      await running.stop();
      const text = lines.map((line) => JSON.stringify(line)).join("\n");
      expect(text).not.toContain("already been destroyed");
      const ofDatabase = lines.filter(
        (line) => line.level >= 40 && !/rpc|node|chain/i.test(JSON.stringify(line)),
      );
      expect(ofDatabase.filter(({ err }) => err !== undefined)).toEqual([]);
      for (const msg of new Set(ofDatabase.map((line) => line.msg + line.role))) {
        expect(
          ofDatabase.filter((line) => line.msg + line.role === msg).length,
        ).toBeLessThanOrEqual(2);
      }
    });
  },
);

it("a statement on a connection that the server has ended tells why", async () => {
  const db = openDatabase({
    url: database.url,
    applicationName: "slow",
    idleInTransactionTimeoutMs: 50,
    onIdleError: () => {},
  });
  const failure = db.transaction().execute(async (session) => {
    await sql`select 1`.execute(session);
    await until("the end of the connection", async () => {
      const { rows } = await sql`
        select from pg_stat_activity where application_name = 'slow'`.execute(admin);
      return rows.length === 0;
    });
    await sql`select 1`.execute(session);
  });
  await expect(failure).rejects.toThrow(DatabaseUnavailable);
  await expect(failure).rejects.toThrow("idle-in-transaction timeout");
  await db.destroy();
});

it("a role whose start finds no database waits for it", async () => {
  let started: Awaited<ReturnType<typeof startRole>> | undefined;
  await without(async () => {
    started = await startRole("jobs");
    const { lines } = started;
    await until("word of the database", async () => lines.length > 0);
  });
  await started?.running.ready;
  await started?.running.stop();
});
