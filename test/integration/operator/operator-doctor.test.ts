import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { schemaOf } from "#projections/log/versions.ts";
import { appendTrades, operate, prepare } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await appendTrades(database.db, 1, 3);
  await prepare(database.db);
});
afterAll(() => database.drop());

type Finding = { about: string; isFault: boolean; finding: string; advice: string };

async function examine(): Promise<{ code: number; findings: Finding[] }> {
  const { code, out, words } = await operate(database.url, "doctor", "--json");
  if (out === "") throw new Error(words);
  return { code, findings: (JSON.parse(out) as { findings: Finding[] }).findings };
}

it("op doctor names what is wrong with the server and the nodes, and nothing of sound tables", async () => {
  const { code, findings } = await examine();

  expect(code).toBe(1);
  const faults = findings.filter(({ isFault }) => isFault);
  expect(faults.map(({ about, finding }) => `${about}: ${finding}`)).toEqual([
    "database: fsync is off",
    "database: full_page_writes is off",
    "chain 1: rpc.invalid:8545 is unreachable",
    "chain 33139: 127.0.0.1:1 is unreachable",
  ]);
  expect(faults.every(({ advice }) => advice.length > 0)).toBe(true);
});

it("op doctor finds tables that drifted, a rebuild begun, and schemas that serve nobody", async () => {
  const { db } = database;
  await sql`alter table sales.sale add column note text`.execute(db);
  await sql`drop index ${sql.id(schemaOf("ownership"), "token_owner_contract_id_token_id_idx")}`.execute(
    db,
  );
  await sql`update engine.checkpoint set version = 7000 where projection = ${schemaOf("activity")}`.execute(
    db,
  );
  await sql`insert into engine.checkpoint values (${`${schemaOf("sales")}_next`}, 1, '', 0)`.execute(
    db,
  );
  await sql`create schema ponder_1_bbbbbbbb`.execute(db);

  const { findings } = await examine();

  const told = findings.map(({ about, finding }) => `${about}: ${finding}`);
  expect(told).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^ownership: lacks index on token USING btree \(owner/),
      "sales: has sale.note text too many",
      "activity: holds rows of version 7000 or of other parameters",
      `sales: ${schemaOf("sales")}_next is rebuilt up to position 0`,
      "ponder_1_bbbbbbbb: 0.0 MB, indexed under an earlier configuration",
    ]),
  );
});

it("op doctor names the migrations that a database lacks", async () => {
  await sql`delete from ops.migration`.execute(database.db);

  const { code, findings } = await examine();

  expect(code).toBe(1);
  expect(findings.at(-1)).toMatchObject({
    about: "migrations",
    advice: expect.stringContaining("op migrate"),
  });
});
