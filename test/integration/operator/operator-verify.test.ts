import { once } from "node:events";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { readCheckpoints, type Target } from "#projections/engine/checkpoint.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { block, setBlocks } from "#test/support/database/given.ts";
import {
  appendCancels,
  appendOrders,
  appendTrades,
  goOn,
  operate,
  prepare,
  projections,
  startOperator,
} from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

const names = projections.map(({ name }) => name);
const sampled = projections.filter(({ sample }) => sample !== undefined).map(({ name }) => name);

let derived: TestDatabase;
let database: TestDatabase;
let targets: Target[];
beforeAll(async () => {
  derived = await createDatabase({ template: "projected" });
  await appendTrades(derived.db, 1, 300);
  await appendOrders(derived.db, 200, 300);
  await appendCancels(derived.db, 101, 120);
  await setBlocks(derived.db, "block_retracted", [block(1, 299), block(1, 300)]);
  targets = await prepare(derived.db);
  await derived.close();
});
afterAll(() => derived.drop());
beforeEach(async () => {
  database = await createDatabase({ template: derived.name });
});
afterEach(() => database.drop());

/** Projections that the facts at hand tell something of. */
const told = ["ownership", "collections", "sales", "activity", "listings", "bids"];

type Found = {
  projection: string;
  position: number;
  compared: number;
  different: number;
  differences: { table: string; stored: unknown; derived: unknown }[];
};

async function verify(...args: string[]): Promise<{ code: number; verified: Found[] }> {
  const { code, out, words } = await operate(database.url, "verify", ...args, "--json");
  if (out === "") throw new Error(words);
  return { code, verified: (JSON.parse(out) as { verified: Found[] }).verified };
}

it("op verify finds nothing while a projector goes on, whatever happened meanwhile", async () => {
  const stop = goOn(database.db, targets, 301);

  const runs = [await verify(), await verify()];

  await stop();
  for (const { code, verified } of runs) {
    expect(verified.map(({ projection, different }) => [projection, different])).toEqual(
      names.map((name) => [name, 0]),
    );
    const empty = verified.filter(({ compared }) => compared === 0).map((one) => one.projection);
    expect(empty.filter((name) => told.includes(name))).toEqual([]);
    expect(code).toBe(0);
  }
  const [first, second] = runs.map(({ verified }) => verified[0]?.position ?? 0);
  expect(second).toBeGreaterThan(first ?? 0);
  const schemas = [...(await readCheckpoints(database.db)).keys()];
  expect(schemas.toSorted()).toEqual(names.map(schemaOf).toSorted());
});

it("op verify tells each row that differs, is missing, or is too many", async () => {
  const { db } = database;
  await sql`update ownership.token set owner = ${"\\x01"} where token_id in (5, 6)`.execute(db);
  await sql`delete from ownership.token where token_id = 7`.execute(db);
  await sql`
    insert into ownership.balance (contract_id, token_id, owner, units) values (1, 8, ${"\\x02"}, 9)
  `.execute(db);

  const { code, verified } = await verify("ownership");

  expect(code).toBe(1);
  const found = verified[0];
  expect([found?.projection, found?.different]).toEqual(["ownership", 4]);
  const told = found?.differences ?? [];
  expect(
    told.map(({ table, stored, derived }) => [table, stored !== null, derived !== null]),
  ).toEqual([
    ["balance", true, false],
    ["token", true, true],
    ["token", true, true],
    ["token", false, true],
  ]);
  expect(told[1]).toMatchObject({
    stored: { owner: "\\x01", token_id: 5 },
    derived: { token_id: 5 },
  });
});

it("op verify --at tells each holder whom today's rows give something else at a block than the log", async () => {
  const ask = async () => {
    const { code, out } = await operate(database.url, "verify", "--at", "1:150", "--json");
    return { code, ...(JSON.parse(out) as Record<string, unknown>) };
  };
  const before = await ask();
  expect(before).toMatchObject({ code: 0, block: 150, different: 0, tooLarge: 0 });
  expect(before).not.toMatchObject({ holders: 0 });

  await sql`
    update ownership.holder set tokens = tokens + 1 where (contract_id, owner) in (
      select contract_id, owner from ownership.holder order by contract_id, owner limit 1)`.execute(
    database.db,
  );

  expect(await ask()).toMatchObject({ code: 1, different: 1 });
  const { code, out } = await operate(database.url, "verify", "--at", "1:150");
  expect([code, out]).toEqual([1, expect.stringContaining("1 differ")]);
});

it("op verify --at is of ownership, at a block that is indexed", async () => {
  expect((await operate(database.url, "verify", "sales", "--at", "1:150")).code).toBe(2);
  expect((await operate(database.url, "verify", "--at", "150")).code).toBe(2);
  expect((await operate(database.url, "verify", "--at", "1:999999")).code).toBe(1);
});

it("op verify prints the first rows that differ and counts all of them", async () => {
  await sql`update sales.sale set total_wei = total_wei + 1`.execute(database.db);

  const { code, out } = await operate(database.url, "verify", "sales");

  expect(code).toBe(1);
  const count = Number(/, (\d+) differ\n/.exec(out)?.[1]);
  expect(count).toBeGreaterThanOrEqual(298);
  expect(out.match(/sale holds/g)).toHaveLength(20);
  expect(out).toContain(`… and ${count - 20} more`);
});

it("op verify --sample looks at a few keys of every projection that can be looked at so", async () => {
  const clean = await verify("--sample", "10");

  expect(clean.code).toBe(0);
  expect(clean.verified.map(({ projection }) => projection)).toEqual(sampled);
  for (const { projection, compared, different } of clean.verified) {
    const isLooked = compared > 0 || !told.includes(projection);
    expect([projection, different, isLooked && compared <= 40]).toEqual([projection, 0, true]);
  }
});

it("op verify --sample finds rows that differ, rows that are missing, and rows too many", async () => {
  const { db } = database;
  await sql`update ownership.token set owner = ${"\\x01"}`.execute(db);
  await sql`delete from sales.sale`.execute(db);
  await sql`
    insert into activity.cancel (block_id, log_index, sub_index, transaction_index, maker)
    select block_id, 1000 + transaction_index, 0, transaction_index, ${"\\x01"}::bytea from log.transaction`.execute(
    db,
  );

  const { code, verified } = await verify("--sample", "10");

  expect(code).toBe(1);
  const different = new Map(verified.map((one) => [one.projection, one.different]));
  expect(different.get("collections")).toBe(0);
  for (const name of ["ownership", "sales", "activity"]) {
    expect(different.get(name)).toBeGreaterThan(0);
  }
});

it("op verify finds a listing and a bid that say other than the log", async () => {
  const { db } = database;
  await sql`update listings.listing set status = 'cancelled' where token_id = 250`.execute(db);
  await sql`delete from bids.bid where token_id = 251`.execute(db);

  const listings = await verify("listings");
  const bids = await verify("bids");

  expect([listings.code, bids.code]).toEqual([1, 1]);
  expect(listings.verified[0]?.differences).toMatchObject([
    { table: "listing", stored: { status: "cancelled" }, derived: { token_id: 250 } },
  ]);
  expect(bids.verified[0]?.differences).toMatchObject([
    { table: "bid", stored: null, derived: { token_id: 251 } },
  ]);
});

it.each(["listings", "bids"])(
  "op verify %s that was killed leaves nothing to the next",
  async (name) => {
    const { db, url } = database;
    const child = startOperator(url, ["verify", name]);
    await db.transaction().execute(async (session) => {
      // What was derived is compared with this table, which it cannot read yet.
      const table = { listings: "listing", bids: "bid" }[name] ?? "";
      await sql`lock table ${sql.id(schemaOf(name), table)} in access exclusive mode`.execute(
        session,
      );
      await vi.waitFor(
        async () => {
          const checkpoint = (await readCheckpoints(db)).get(`${schemaOf(name)}_verify`);
          expect(checkpoint?.position).toBeGreaterThan(0n);
        },
        { timeout: 120_000 },
      );
      child.kill("SIGKILL");
      await once(child, "exit");
    });

    expect((await verify(name)).code).toBe(0);
    expect([...(await readCheckpoints(db)).keys()].toSorted()).toEqual(
      names.map(schemaOf).toSorted(),
    );
  },
);

it("op verify refuses tables of another version", async () => {
  await sql`update engine.checkpoint set version = 7000 where projection = ${schemaOf("sales")}`.execute(
    database.db,
  );

  const { code, words } = await operate(database.url, "verify", "sales");

  expect(code).toBe(1);
  expect(words).toContain("sales has tables of version 7000");
});

it("op verify of no projection, or of no number of keys, makes no sense", async () => {
  expect((await operate(database.url, "verify", "nothing")).code).toBe(2);
  expect((await operate(database.url, "verify", "--sample", "few")).code).toBe(2);
});
