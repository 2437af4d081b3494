import { once } from "node:events";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { readCheckpoints, type Target } from "#projections/engine/checkpoint.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { dumpTable, project } from "../support/database/given.ts";
import {
  appendOrders,
  appendTrades,
  goOn,
  operate,
  prepare,
  projections,
  startOperator,
} from "../support/database/operator.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";

const tables = [
  "ownership.token",
  "ownership.holder",
  "sales.sale",
  "sales.volume",
  "activity.cancel",
  "listings.listing",
  "bids.bid",
];

let database: TestDatabase;
let targets: Target[];
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await appendTrades(database.db, 1, 400);
  await appendOrders(database.db, 300, 400);
  targets = await prepare(database.db);
});
afterAll(() => database.drop());

const dump = () => Promise.all(tables.map((table) => dumpTable(database.db, table)));

async function schemaId(schema: string): Promise<number | undefined> {
  const { rows } = await sql<{ oid: number }>`
    select oid::int from pg_namespace where nspname = ${schema}`.execute(database.db);
  return rows[0]?.oid;
}

async function positionOf(schema: string): Promise<bigint | undefined> {
  return (await readCheckpoints(database.db)).get(schema)?.position;
}

/** Reads as the API does, without a pause, until told to stop. Tells faults, and whether rows ever went away. */
function keepReading() {
  let reading = true;
  let reads = 0;
  const faults: string[] = [];
  const work = (async () => {
    for (let least = 0n; reading; reads += 1) {
      try {
        const { rows } = await sql<{ sales: bigint; tokens: bigint; total: bigint }>`
          select count(*) as sales, (select count(*) from ownership.token) as tokens,
                 (select sum(sales)::bigint from sales.total where contract_id = 0) as total
          from sales.sale s join ownership.token o using (contract_id, token_id)`.execute(
          database.db,
        );
        const sales = rows[0]?.sales ?? 0n;
        if (sales < least) faults.push(`${sales} sales after ${least}`);
        least = sales;
      } catch (error) {
        faults.push(String(error));
      }
    }
  })();
  return async () => {
    reading = false;
    await work;
    return { reads, faults };
  };
}

it("op rebuild exchanges every projection's tables while ticks and readers go on", async () => {
  const before = await schemaId(schemaOf("sales"));
  const stopReading = keepReading();
  const stop = goOn(database.db, targets, 401);

  const { code, out, words } = await operate(database.url, "rebuild", "--json");

  await stop();
  const { reads, faults } = await stopReading();
  expect(words).not.toContain("rror");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    rebuilt: projections.map(({ name }) => {
      return { projection: name, previous: `${schemaOf(name)}_previous` };
    }),
  });
  expect(faults).toEqual([]);
  expect(reads).toBeGreaterThan(20);
  expect(await schemaId(`${schemaOf("sales")}_previous`)).toBe(before);
  await project(database.db, targets);
  const rebuilt = await dump();
  expect(rebuilt[0]?.length).toBeGreaterThan(400);
  expect((await operate(database.url, "verify")).code).toBe(0);
});

it("op rebuild of what another reads rebuilds that too, and says so", async () => {
  const { code, out, words } = await operate(database.url, "rebuild", "sales");

  expect(code).toBe(0);
  expect(out).toMatch(/^sales rebuilt: \d+ facts.*sales\w*_previous kept\n/);
  expect(out).toContain("\ncollection_stats rebuilt: ");
  expect(words).toContain("collection_stats is rebuilt too, because it reads sales");
});

it.each(["ownership", "listings", "bids"])(
  "op rebuild %s that was killed is taken up where it stood",
  async (name) => {
    const before = await dump();
    const { db } = database;
    const child = startOperator(database.url, ["rebuild", name]);
    await db.transaction().execute(async (session) => {
      // The exchange waits for this row, as it would for a tick.
      await sql`select from engine.checkpoint where projection = ${schemaOf(name)} for update`.execute(
        session,
      );
      await vi.waitFor(
        async () => expect(await positionOf(`${schemaOf(name)}_next`)).toBeGreaterThan(0n),
        {
          timeout: 120_000,
        },
      );
      child.kill("SIGKILL");
      await once(child, "exit");
    });
    const begun = await schemaId(`${schemaOf(name)}_next`);

    const { code } = await operate(database.url, "rebuild", name);

    expect(code).toBe(0);
    expect(await schemaId(schemaOf(name))).toBe(begun);
    expect(await schemaId(`${schemaOf(name)}_next`)).toBeUndefined();
    expect(await dump()).toEqual(before);
  },
);

it("op rebuild does not wait for a transaction that has read the tables and stays open", async () => {
  await database.db.transaction().execute(async (session) => {
    await sql`select count(*) from collections.collection`.execute(session);

    expect((await operate(database.url, "rebuild", "collections")).code).toBe(0);
  });
});

it("op rollback puts the replaced tables back, which then catch up; a second one changes nothing", async () => {
  const { db, url } = database;
  await operate(url, "rebuild", "sales");
  const [previous, kept] = [
    await schemaId(`${schemaOf("sales")}_previous`),
    await positionOf(`${schemaOf("sales")}_previous`),
  ];
  await appendTrades(db, 9_001, 9_003);
  await project(db, targets);
  const before = await dump();

  const first = await operate(url, "rollback", "sales", "--json");
  const second = await operate(url, "rollback", "sales", "--json");

  expect(JSON.parse(first.out)).toMatchObject({
    rolledBack: [{ projection: "sales", position: Number(kept) }],
  });
  expect([first.code, second.code, JSON.parse(second.out)]).toEqual([0, 0, { rolledBack: [] }]);
  expect(await schemaId(schemaOf("sales"))).toBe(previous);
  await project(db, targets);
  expect(await dump()).toEqual(before);
});

it("op rebuild of a projection that does not exist makes no sense", async () => {
  const { code, words } = await operate(database.url, "rebuild", "sails");

  expect(code).toBe(2);
  expect(words).toContain(`there are ${projections.map(({ name }) => name).join(", ")}`);
});
