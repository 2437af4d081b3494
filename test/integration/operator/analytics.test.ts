import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { viewsBinding } from "#jobs/database-upkeep.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { areViewsBound, bindViews, bindViewsIfStale } from "#projections/analytics/bind-views.ts";
import { dropTarget, type Target } from "#projections/engine/checkpoint.ts";
import { prepareProjections, rebuild, rollBack } from "#projections/engine/rebuild.ts";
import { appendObservations } from "#projections/log/append.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import { project } from "#test/support/database/given.ts";
import {
  apes,
  appendOrders,
  appendTrades,
  prepare,
  projections,
} from "#test/support/database/operator.ts";
import { until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

const root = resolve(import.meta.dirname, "../../..");

let database: TestDatabase;
let targets: Target[];
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await appendTrades(database.db, 1, 40);
  await appendOrders(database.db, 30, 40);
  const minuteMs = 1_700_000_040_000;
  const tick = { coin: "ethereum", minuteMs, priceE8: 2_000_00000000n, sources: [] } as const;
  await appendObservations(database.db, [priceTicked(tick)]);
  targets = await prepare(database.db);
  await project(database.db, targets);
});
afterAll(() => database.drop());

async function ask<Row>(query: string): Promise<Row[]> {
  const { rows } = await sql
    .raw<{ row: Row }>(`select to_jsonb(q) as row from (${query}) q`)
    .execute(database.db);
  return rows.map(({ row }) => row);
}

async function count(relation: string): Promise<number> {
  const [row] = await ask<{ rows: number }>(`select count(*) as rows from ${relation}`);
  return row?.rows ?? -1;
}

describe("the views of analytics", () => {
  it("have the documented columns, each with a comment", async () => {
    const promised = await readFile(resolve(root, "test/spec/analytics-columns.json"), "utf8");
    const columns = await ask<{ view: string; columns: string[]; bare: number }>(`
      select c.relname as view, array_agg(a.attname order by a.attnum) as columns,
             count(*) filter (where col_description(c.oid, a.attnum) is null) as bare
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
      where c.relnamespace = 'analytics'::regnamespace group by c.relname`);
    const views = await ask<{ comment: string | null }>(`
      select obj_description(oid, 'pg_class') as comment from pg_class
      where relnamespace = 'analytics'::regnamespace`);

    const found = Object.fromEntries(columns.map((one) => [one.view, one.columns]));
    expect(found).toEqual(JSON.parse(promised));
    expect(columns.filter(({ bare }) => bare > 0)).toEqual([]);
    expect(views.filter(({ comment }) => !comment)).toEqual([]);
  });

  it("have each row of the serving tables once, in hex and in units", async () => {
    const sources = {
      sales: "sales.sale",
      listings: "listings.listing",
      bids: "bids.bid",
      tokens: "ownership.token",
      collections: "collections.collection",
    };
    for (const [view, table] of Object.entries(sources)) {
      expect([view, await count(`analytics.${view}`)]).toEqual([view, await count(table)]);
    }
    expect(await count("analytics.transfers")).toBe(80);
    expect(await count("analytics.balances")).toBe(40);

    const [sale] = await ask(`select * from analytics.sales where token_id = 7`);
    expect(sale).toMatchObject({
      chain_id: 1,
      contract: apes,
      block_number: 7,
      price_wei: 1_007,
      price_native: 1_007e-18,
      total_usd: 1_007e-18 * 2_000,
      is_native: true,
      side: "ask",
    });
    expect(await ask("select distinct status from analytics.listings")).toEqual([
      { status: "expired" },
    ]);
    const summed = await ask(`
      select (select sum(total_wei) from analytics.sales) = volume_wei_all as volume, sales_all = 40 as sales,
             supply = (select count(*) from analytics.tokens where not is_burned) as supply
      from analytics.collections`);
    expect(summed).toEqual([{ volume: true, sales: true, supply: true }]);
  });

  it("answer every query of the README", async () => {
    const text = await readFile(resolve(root, "projections/analytics/README.md"), "utf8");
    const questions = [...text.matchAll(/```sql\n(.*?);\n```/gs)].map(([, query]) => query ?? "");

    expect(questions.length).toBeGreaterThanOrEqual(8);
    const onThisChain = questions.map((query) =>
      query.replaceAll("chain_id = 33139", "chain_id = 1"),
    );
    const answers = await Promise.all(onThisChain.map((query) => ask(query)));
    expect(answers.filter((rows) => rows.length > 0).length).toBeGreaterThanOrEqual(4);
  });
});

describe("a rebuild", () => {
  const salesTold = () =>
    ask<{ sales: number; names: number }>(`
    select count(*) as sales, count(collection_slug) as names from analytics.sales`);

  async function named(name: string) {
    const found = projections.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no projection ${name}`);
    return found;
  }

  it("is followed by the views of what is rebuilt and of what reads it", async () => {
    for (const name of ["sales", "collections", "activity"]) {
      await rebuild(database.db, await named(name), () => {}, bindViews);
    }
    expect(await areViewsBound(database.db)).toBe(true);

    await appendTrades(database.db, 41, 45);
    await project(database.db, targets);

    expect(await salesTold()).toEqual([{ sales: 45, names: 45 }]);
    expect(await count("analytics.transfers")).toBe(90);
  });

  it("does not wait for running queries, which finish on the old tables", async () => {
    const reader = new pg.Client({ connectionString: database.url });
    await reader.connect();
    try {
      await reader.query("begin isolation level repeatable read");
      const before = await reader.query("select count(*) from analytics.sales");
      await rebuild(database.db, await named("sales"), () => {}, bindViews);
      const during = await reader.query("select count(*) from analytics.transfers");
      await reader.query("commit");

      expect([before.rows, during.rows]).toEqual([[{ count: "45" }], [{ count: "90" }]]);
      expect((await reader.query("select count(*) from analytics.sales")).rows).toEqual(
        before.rows,
      );
    } finally {
      await reader.end();
    }
    await rebuild(database.db, await named("sales"), () => {}, bindViews);
    const left = await ask("select nspname from pg_namespace where nspname like 'analytics_%'");
    expect(left).toEqual([]);
  });

  it("that is rolled back is followed too", async () => {
    await rollBack(database.db, "sales", bindViews);
    await appendTrades(database.db, 46, 46);
    await project(database.db, targets);

    expect(await areViewsBound(database.db)).toBe(true);
    expect(await salesTold()).toEqual([{ sales: 46, names: 46 }]);
  });

  it("and the projector's start restore missing views", async () => {
    await database.db.transaction().execute((session) => dropTarget(session, schemaOf("floors")));
    expect(await areViewsBound(database.db)).toBe(false);

    await prepareProjections(database.db, projections, () => {}, bindViews);
    await database.db.transaction().execute(bindViewsIfStale);

    expect(await areViewsBound(database.db)).toBe(true);
    expect(await count("analytics.floors")).toBe(0);
  });
});

describe("the views, while two releases run", () => {
  const bindToOther = async () => {
    await sql`create schema floors_v99`.execute(database.db);
    await sql`create table floors_v99.floor (chain_id int, contract text)`.execute(database.db);
    await sql`drop view analytics.floors`.execute(database.db);
    await sql`create view analytics.floors as select * from floors_v99.floor`.execute(database.db);
  };

  it("are brought back to the tables of the release that records", async () => {
    await bindToOther();
    expect(await areViewsBound(database.db)).toBe(false);
    const over = new AbortController();
    const keeping = runJobs(viewsBinding(database.db), {
      ...{ logger: pino({ level: "silent" }), signal: over.signal },
    });
    await until("the views of this release", () => areViewsBound(database.db));
    over.abort();
    await keeping;
    expect(await ask("select since from analytics.floors")).toEqual([]);
  });
});
