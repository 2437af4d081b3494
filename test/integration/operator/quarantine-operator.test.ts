import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Target } from "#projections/engine/checkpoint.ts";
import { appendReleased } from "#projections/engine/quarantine.ts";
import { advance } from "#projections/engine/tick.ts";
import { block } from "#test/support/database/given.ts";
import {
  appendTrades,
  appendUnreadableOrder,
  operate,
  prepare,
} from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

let database: TestDatabase;
let targets: Target[];
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const { db } = database;
  targets = await prepare(db);
  await appendTrades(db, 1, 2);
  await appendUnreadableOrder(db, 3);
  await appendTrades(db, 4, 5);
  await keepUp();
});
afterAll(() => database.drop());

async function keepUp(): Promise<void> {
  for (;;) {
    const { outcome } = await advance(database.db, targets);
    if (outcome === "idle") return;
  }
}

async function list(): Promise<
  { projection: string; error: string; fact: { position: number } }[]
> {
  const { out } = await operate(database.url, "quarantine", "list", "--json");
  return (JSON.parse(out) as { quarantined: Awaited<ReturnType<typeof list>> }).quarantined;
}

it("op quarantine list tells what a projection excludes and why, while all else goes on", async () => {
  const found = await list();

  expect(found.length).toBeGreaterThan(0);
  expect(found).toContainEqual(
    expect.objectContaining({
      projection: "sales",
      error: "Cannot convert one to a BigInt",
      fact: expect.objectContaining({
        position: 7,
        kind: "order_fulfilled",
        block: expect.objectContaining({ number: 3, hash: block(1, 3).hash }),
      }),
    }),
  );
  const { out, code } = await operate(database.url, "quarantine", "list");
  expect(code).toBe(0);
  expect(out).toContain("sales excludes  7  chain 1  block 3  log 0  order_fulfilled");
  expect(out).toMatch(
    /\n {4}since .*: Cannot convert one to a BigInt\n {4}block 0x.*\n {4}transaction 0x/,
  );
  const { rows } = await sql<{ sales: bigint; tokens: bigint }>`
    select (select count(*) from sales.sale) as sales, (select count(*) from ownership.token) as tokens
  `.execute(database.db);
  expect(rows).toEqual([{ sales: 4n, tokens: 4n }]);
});

it("op status and op doctor tell what is left out, of which chain and since when", async () => {
  const [status, doctor] = await Promise.all([
    operate(database.url, "status"),
    operate(database.url, "doctor", "--json"),
  ]);

  expect(status.out).toMatch(
    /\nsales excludes 1 fact of chain 1, the oldest since 2\d{3}-\S+Z: op quarantine list\n/,
  );
  const { findings } = JSON.parse(doctor.out) as { findings: unknown[] };
  expect(findings).toContainEqual({
    about: "sales",
    isFault: true,
    finding: expect.stringMatching(/^excludes 1 fact of chain 1, the oldest since/),
    advice: expect.stringContaining("op quarantine list"),
  });
  expect(doctor.code).toBe(1);
});

it("op verify and op rebuild leave out the same", async () => {
  expect((await operate(database.url, "rebuild", "sales")).code).toBe(0);

  const { code, out } = await operate(database.url, "verify");

  expect(out).not.toMatch(/[1-9]\d* differ/);
  expect(code).toBe(0);
});

const held = async () => (await list()).map(({ projection, fact }) => [projection, fact.position]);

it("op quarantine release of what fails again says why, and leaves tables and list as they were", async () => {
  const before = await held();
  const { code, out } = await operate(database.url, "quarantine", "release", "7", "--json");
  await keepUp();

  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({
    position: 7,
    released: [],
    error: expect.stringContaining("one"),
  });
  expect(await held()).toEqual(before);
  const verified = await operate(database.url, "verify");
  expect(verified.out).not.toMatch(/[1-9]\d* differ/);
});

it("op quarantine release derives anew with it what can take it in and what reads that, also after a kill", async () => {
  const { db } = database;
  await sql`
    update log.fact set payload = jsonb_set(payload, '{offer,0,amount}', '"1"') where position = 7`.execute(
    db,
  );
  // As a release leaves it that was killed before anything was derived.
  await appendReleased(db, 7n, null);
  const doctor = await operate(database.url, "doctor", "--json");
  expect((JSON.parse(doctor.out) as { findings: unknown[] }).findings).toContainEqual({
    about: "sales",
    isFault: true,
    finding: "still excludes fact 7, which was released",
    advice: "op rebuild sales",
  });
  const { code, out } = await operate(database.url, "quarantine", "release", "7");

  expect(out).toMatch(/^sales rebuilt: /m);
  expect(out).toMatch(/^collection_stats rebuilt: /m);
  expect(out).toMatch(/\n7 is released in .*sales/);
  expect(code).toBe(0);
  await keepUp();
  expect(await list()).toEqual([]);
  const { rows } = await sql<{ sales: bigint }>`
    select count(*) as sales from sales.sale`.execute(db);
  expect(rows).toEqual([{ sales: 5n }]);
  const verified = await operate(database.url, "verify");
  expect(verified.out).not.toMatch(/[1-9]\d* differ/);
  expect(verified.code).toBe(0);
});

it("op quarantine release of a fact that is not quarantined changes nothing, and of an invalid position is a usage error", async () => {
  const nothing = await operate(database.url, "quarantine", "release", "1");
  const malformed = await operate(database.url, "quarantine", "release", "first");

  expect([nothing.code, malformed.code]).toEqual([0, 2]);
  expect(nothing.out).toBe("1 is not quarantined\n");
});
