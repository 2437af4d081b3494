import { sql } from "kysely";
import pg from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createApp } from "#api/app.ts";
import { openPositionedReads } from "#api/http/reads/positioned-reads.ts";
import { openTarget } from "#api/http/reads/target.ts";
import { openSlowRequests } from "#api/http/slow-requests.ts";
import type { ServiceStatus } from "#api/status/service-status.ts";
import { type Context, route } from "#api/v1/context.ts";
import { openReaders } from "#ops/processes/roles/api.ts";
import { projectionNames } from "#projections/all.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

/** Milliseconds for a statement of a long list. */
const listMs = 300;

let database: TestDatabase;
let db: Database;
let listDb: Database;
/** Times that the list was read, or tried to be. */
let attempted = 0;
let api: ApiClient;
let clockMs = 0;
const logger = pino({ level: "silent" });

const idle: ServiceStatus = {
  ready: true,
  failing: [],
  warnings: [],
  logPosition: 0,
  chains: [],
  projections: [],
};

/** An endpoint that does what the test says, with the connections of its class. */
const endpoint = (
  name: string,
  loadClass: "lists" | "data",
  work: (context: Context, value: string) => Promise<unknown>,
) =>
  route(
    {
      method: "get",
      path: `/v1/${name}`,
      operationId: name,
      tag: "Service",
      loadClass,
      summary: name,
      query: z.object({ value: z.string().default(""), other: z.string().optional() }),
      data: z.object({}),
      refuses: { invalid_parameters: 422 },
    },
    async ({ query }, context) => {
      await work(context, query.value);
      return { data: {} };
    },
  );

const routes = [
  endpoint("list", "lists", (context, seconds) => {
    attempted += 1;
    return sql`select pg_sleep(${seconds}::float)`.execute(context.db);
  }),
  endpoint("row", "data", (context) => sql`select 1`.execute(context.db)),
  endpoint("raise", "data", (context, code) => sql`select raise(${code})`.execute(context.db)),
  endpoint("locked", "data", (context) => sql`select pg_sleep(0) from waited`.execute(context.db)),
];

beforeAll(async () => {
  database = await createDatabase();
  await sql`create table waited ()`.execute(database.db);
  await sql`
    create function raise(code text) returns int language plpgsql as $$
      begin raise exception 'as told' using errcode = code; end $$`.execute(database.db);
  const shared = { url: database.url, max: 1, onIdleError: () => {} };
  // The light readers' own statements may take long on a busy machine.
  db = openDatabase({
    ...shared,
    applicationName: "reads",
    connectionTimeoutMs: 500,
  });
  listDb = openDatabase({ ...shared, applicationName: "lists", statementTimeoutMs: listMs });
  const context = {
    db,
    siteUrl: "https://site.example.test",
    chains: [33139] as const,
    readStatus: async () => idle,
    market: openTestMarket(db),
    now: () => new Date(),
  };
  const slowRequests = openSlowRequests(() => clockMs);
  const baseUrl = "https://api.example.test";
  const reads = openPositionedReads({
    primary: openTarget({ db, listDb }, projectionNames),
    projections: projectionNames,
  });
  api = await serve(createApp({ context, routes, baseUrl, logger, reads, slowRequests }));
});
afterAll(async () => {
  await api?.close();
  await Promise.all([db, listDb].map((one) => one?.destroy()));
  await database?.drop();
});

async function ask(path: string) {
  const { status, headers, body } = await api.get(path);
  const { code } = z.looseObject({ code: z.string().optional() }).parse(body);
  return { status, code, retryAfter: headers.get("retry-after") };
}

const timedOut = (retryAfter: string) => ({ status: 503, code: "query_timeout", retryAfter });
const unavailable = { status: 503, code: "database_unavailable", retryAfter: "2" };

describe("a list that takes too long", () => {
  it("is ended, and refused for a while without being tried, in any order of its parameters", async () => {
    expect(await ask("/v1/list?value=60&other=a")).toEqual(timedOut("15"));
    const tried = attempted;
    clockMs += 5_000;
    expect(await ask("/v1/list?other=a&value=60")).toEqual(timedOut("10"));
    expect(await ask("/v1/list?value=60&other=a")).toEqual(timedOut("10"));
    expect(attempted).toBe(tried);
    expect(await (await fetch(`${api.url}/metrics`)).text()).toContain("http_requests_resting 1");

    expect(await ask("/v1/list?value=0&other=a")).toMatchObject({ status: 200 });
  });

  it("is tried again after its rest, which doubles with each timeout and is forgotten with a success", async () => {
    const before = attempted;
    const path = "/v1/list?value=60&other=b";
    for (const seconds of [15, 30, 60, 120, 240, 480, 600, 600]) {
      expect(await ask(path)).toEqual(timedOut(String(seconds)));
      clockMs += seconds * 1_000;
    }
    expect(attempted - before).toBe(8);
  });

  it("rests as after one timeout when it is asked twice at once", async () => {
    const asked = ["value=60&other=d", "other=d&value=60"].map((query) => ask(`/v1/list?${query}`));
    expect(await Promise.all(asked)).toEqual([timedOut("15"), timedOut("15")]);
  });

  it("holds no connection of other reads", async () => {
    const slow = ask("/v1/list?value=60&other=c");
    const rows = await Promise.all(Array.from({ length: 5 }, () => ask("/v1/row")));
    expect(rows.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(await slow).toEqual(timedOut("15"));
  });
});

describe("a request that cannot be answered for the state of the database", () => {
  // Those of PostgreSQL's appendix A that say so: lost connections, shutdown, start, limits, a full disk, a standby.
  it.each([
    ..."08000 08003 08006 53000 53100 53200 53300 57P01 57P02 57P03 57P05".split(" "),
    ..."25P03 25006 58030 40001 40P01".split(" "),
  ])("is refused with 503 and Retry-After: %s", async (code) => {
    expect(await ask(`/v1/raise?value=${code}`)).toEqual(unavailable);
  });

  it("is a fault for any other reason", async () => {
    expect(await ask("/v1/raise?value=22012")).toMatchObject({ status: 500, code: "internal" });
  });

  it("is refused when no connection becomes free, and answered as soon as one is", async () => {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query("begin; lock table waited");
    const holding = ask("/v1/locked");
    expect(await ask("/v1/row")).toEqual(unavailable);
    await other.query("commit");
    await other.end();
    expect(await holding).toMatchObject({ status: 200 });
    expect(await ask("/v1/row")).toMatchObject({ status: 200 });
  });

  it("is refused when the server does not answer at all, and the connection is given up", async () => {
    const frozen = openDatabase({
      url: database.url,
      applicationName: "frozen",
      max: 1,
      statementTimeoutMs: 100,
      onIdleError: () => {},
    });
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(frozen);
    const pid = rows[0]?.pid ?? 0;
    process.kill(pid, "SIGSTOP");
    try {
      const statement = frozen.transaction().execute((session) => sql`select 1`.execute(session));
      await expect(statement).rejects.toMatchObject({
        name: "Error",
        message: "the database did not answer in time",
      });
      const again = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(frozen);
      expect(again.rows[0]?.pid).not.toBe(pid);
    } finally {
      process.kill(pid, "SIGCONT");
      await frozen.destroy();
    }
  });
});

it("the API's connections of long lists are fewer, and end a statement after two seconds", async () => {
  const readers = openReaders({
    address: { url: database.url },
    projections: projectionNames,
    logger,
  });
  const limitOf = async (one: Database) =>
    (
      await sql<{ limit: string }>`select current_setting('statement_timeout') as limit`.execute(
        one,
      )
    ).rows[0]?.limit;
  expect(await Promise.all([readers.listDb, readers.db].map(limitOf))).toEqual(["2s", "5s"]);
  const pids = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const { rows } = await sql<{ pid: number }>`
        select pg_backend_pid() as pid, pg_sleep(0.05)`.execute(readers.listDb);
      return rows[0]?.pid;
    }),
  );
  expect(new Set(pids).size).toBeLessThanOrEqual(4);
  await readers.close();
});
