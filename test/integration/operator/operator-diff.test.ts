import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { targetOf } from "#projections/engine/checkpoint.ts";
import { project } from "#test/support/database/given.ts";
import {
  appendCancels,
  appendOrders,
  appendTrades,
  operate,
  prepare,
  projections,
} from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

let derived: TestDatabase;
let here: TestDatabase;
let there: TestDatabase;
beforeAll(async () => {
  derived = await createDatabase({ template: "projected" });
  await appendTrades(derived.db, 1, 60);
  await appendOrders(derived.db, 40, 60);
  await appendCancels(derived.db, 41, 45);
  await prepare(derived.db);
  await derived.close();
});
afterAll(() => derived.drop());
beforeEach(async () => {
  here = await createDatabase({ template: derived.name });
  there = await createDatabase({ template: derived.name });
});
afterEach(async () => {
  await here.drop();
  await there.drop();
});

type Found = {
  name: string;
  position: number;
  rows: number;
  differentParts: number;
  untold?: string;
  differences: { table: string; here: unknown; there: unknown }[];
};

async function diff(...args: string[]): Promise<{ code: number; compared: Found[] }> {
  const { code, out, words } = await operate(here.url, "diff", there.url, ...args, "--json");
  if (out === "") throw new Error(words);
  return { code, compared: (JSON.parse(out) as { compared: Found[] }).compared };
}

const unequal = (compared: readonly Found[]) =>
  compared.filter(({ differentParts, untold }) => differentParts > 0 || untold !== undefined);

it("op diff finds nothing in a copy, of the log and of every projection", async () => {
  const { code, compared } = await diff();
  expect(compared.map(({ name }) => name)).toEqual(["log", ...projections.map(({ name }) => name)]);
  expect([code, unequal(compared)]).toEqual([0, []]);
  for (const name of ["log", "ownership", "sales", "listings", "bids"])
    expect(compared.find((one) => one.name === name)?.rows).toBeGreaterThan(0);
});

it("op diff names the facts that differ, the first ones first", async () => {
  await sql`update log.fact set amount = 7 where position in (20, 90)`.execute(there.db);
  await sql`delete from log.fact where position = 50`.execute(here.db);
  const { code, compared } = await diff("ownership");
  expect([code, compared.map(({ name, differentParts }) => [name, differentParts > 0])]).toEqual([
    1,
    [
      ["log", true],
      ["ownership", false],
    ],
  ]);
  expect(compared[0]?.differences).toMatchObject([
    { table: "log.fact", here: { position: 20 }, there: { position: 20, amount: 7 } },
    { here: null, there: { position: 50 } },
    { there: { position: 90, amount: 7 } },
  ]);
});

it("op diff names the rows of a projection that differ, are missing or too many", async () => {
  await sql`update ownership.token set owner = ${"\\x01"} where token_id = 5`.execute(there.db);
  await sql`delete from ownership.token where token_id = 6`.execute(here.db);
  await sql`delete from ownership.token where token_id = 7`.execute(there.db);
  const { code, compared } = await diff();
  expect([code, unequal(compared).map(({ name }) => name)]).toEqual([1, ["ownership"]]);
  const { differences = [] } = unequal(compared)[0] ?? {};
  expect(differences.length).toBe(3);
  expect(differences).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        here: expect.objectContaining({ token_id: 5 }),
        there: expect.objectContaining({ token_id: 5, owner: "\\x01" }),
      }),
      expect.objectContaining({ here: null, there: expect.objectContaining({ token_id: 6 }) }),
      expect.objectContaining({ here: expect.objectContaining({ token_id: 7 }), there: null }),
    ]),
  );
  const { code: one, out } = await operate(here.url, "diff", there.url, "ownership");
  expect(one).toBe(1);
  expect(out).toMatch(
    /ownership: \d+ rows compared at position \d+, rows differ in 3 of 4096 parts/,
  );
});

it("op diff compares up to the lower head what is at one position, and tells what is not", async () => {
  await appendTrades(there.db, 61, 62);
  const ahead = await diff("ownership", "--wait", "0");
  expect([ahead.code, unequal(ahead.compared)]).toEqual([0, []]);
  await project(there.db, projections.map(targetOf));
  const apart = await diff("ownership", "--wait", "0");
  expect(apart.code).toBe(1);
  expect(unequal(apart.compared)).toMatchObject([
    {
      name: "ownership",
      untold: expect.stringMatching(/^it is at position \d+ here, at \d+ there$/),
    },
  ]);
});
