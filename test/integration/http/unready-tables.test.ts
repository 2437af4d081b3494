import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { TablesNotReady } from "#api/http/failures.ts";
import { openPositionedReads } from "#api/http/reads/positioned-reads.ts";
import { openTarget } from "#api/http/reads/target.ts";
import { openFailureReader } from "#api/status/explain-failure.ts";
import type { ServiceStatus } from "#api/status/service-status.ts";
import { projectionNames } from "#projections/all.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

const baseUrl = "https://api.example.test";
const idle: ServiceStatus = {
  ...{ ready: true, failing: [], warnings: [], logPosition: 0, chains: [], projections: [] },
};

let database: TestDatabase;
let api: ApiClient;
const faults: string[] = [];

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const { db } = database;
  const context = {
    ...{ db, siteUrl: baseUrl, chains: [1] as const, market: openTestMarket(db) },
    ...{ readStatus: async () => idle, now: () => new Date() },
  };
  const logger = pino({ level: "error" }, { write: (line) => void faults.push(line) });
  api = await serve(createApp({ context, baseUrl, logger }));
});
afterAll(async () => {
  await api?.close();
  await database?.drop();
});

/** Does something while the tables of collections are of another version, and without a column that is read. */
async function meanwhile<Result>(
  { version, isRenamed }: { version: number; isRenamed: boolean },
  work: () => Promise<Result>,
): Promise<Result> {
  const change = async (from: string, to: string, by: number) => {
    await sql`
      update engine.checkpoint set version = version + ${by} where projection = ${schemaOf("collections")}`.execute(
      database.db,
    );
    if (isRenamed)
      await sql`alter table collections.collection rename ${sql.id(from)} to ${sql.id(to)}`.execute(
        database.db,
      );
  };
  await change("slug", "slug_of_another_release", version);
  try {
    return await work();
  } finally {
    await change("slug_of_another_release", "slug", -version);
  }
}

/** It names collections. */
const list = "/v1/listings?chainId=1";
const page = "/?chainId=1";

async function ask(path: string) {
  const response = await fetch(api.url + path);
  await response.text();
  return [response.status, response.headers.get("retry-after") !== null];
}

describe("tables of another release", () => {
  it.each([list, page])("%s is answered from them where they have what it reads", async (path) => {
    const answer = await meanwhile({ version: 1, isRenamed: false }, () => ask(path));
    expect(answer).toEqual([200, false]);
  });

  it.each([list, page])("%s is refused for some seconds where they have not", async (path) => {
    const answer = await meanwhile({ version: 1, isRenamed: true }, () => ask(path));
    expect(answer).toEqual([503, true]);
    expect(faults).toEqual([]);
  });

  it("are answered with a code and a time in the API", async () => {
    const { status, headers, body } = await meanwhile({ version: -1, isRenamed: true }, () =>
      api.get(list),
    );
    expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
    expect(body).toMatchObject({ code: "database_unavailable" });
  });

  it("that were derived since a read missed them are no fault of this release", async () => {
    const { db } = database;
    const reads = openPositionedReads({
      primary: openTarget({ db }, projectionNames),
      projections: projectionNames,
    });
    const explain = openFailureReader(reads);
    const late = sql.table(`${schemaOf("collections")}.derived_late`);
    const missed = await sql`select from ${late}`.execute(db).catch((error: unknown) => error);
    expect(missed).toBeInstanceOf(Error);
    expect(await explain(missed)).toBe(missed);
    await sql`create table ${late} ()`.execute(db);
    try {
      expect(await explain(missed)).toBeInstanceOf(TablesNotReady);
    } finally {
      await sql`drop table ${late}`.execute(db);
    }
  });

  it("do not hide a fault of this release", async () => {
    const answer = await meanwhile({ version: 0, isRenamed: true }, () => ask(list));
    expect(answer).toEqual([500, false]);
    expect(faults.splice(0).join()).toContain("request failed");
  });
});
