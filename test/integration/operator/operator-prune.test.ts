import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ponderLock } from "#ops/ponder/ponder-schema.ts";
import { readCheckpoints } from "#projections/engine/checkpoint.ts";
import { withLock } from "#projections/log/named-lock.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { appendTrades, operate, prepare } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

const [active, earlier, running] = [
  "ponder_1_aaaaaaaa",
  "ponder_1_bbbbbbbb",
  "ponder_33139_cccccccc",
] as const;

const serving = schemaOf("activity");

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const { db } = database;
  await appendTrades(db, 1, 3);
  await prepare(db);
  for (const schema of [active, earlier, running, "ponder_sync", "ponder_notes"]) {
    await sql`create schema ${sql.id(schema)}`.execute(db);
    await sql`create table ${sql.id(schema, "event")} as select generate_series(1, 1000)`.execute(
      db,
    );
  }
  await sql`insert into ops.indexer (chain_id, ponder_schema, started_at) values (1, ${active}, now())`.execute(
    db,
  );
  await operate(database.url, "rebuild", "activity");
});
afterAll(() => database.drop());

async function schemas(): Promise<string[]> {
  const { rows } = await sql<{ schema: string }>`
    select nspname as schema from pg_namespace where nspname ~ '^(ponder|activity)' order by 1`.execute(
    database.db,
  );
  return rows.map(({ schema }) => schema);
}

it("op prune lists what serves nobody with its size, and drops nothing unasked", async () => {
  const before = await schemas();

  const { code, out } = await operate(database.url, "prune", "--json");

  expect(code).toBe(0);
  const { stale } = JSON.parse(out) as { stale: { schema: string; bytes: number }[] };
  expect(stale.map(({ schema }) => schema)).toEqual([`${serving}_previous`, earlier, running]);
  expect(stale.every(({ bytes }) => bytes > 8_000)).toBe(true);
  expect(await schemas()).toEqual(before);
});

it("op prune --yes drops them, but never one in which a Ponder runs", async () => {
  const { db, url } = database;
  const first = await withLock(db, ponderLock(running), () => operate(url, "prune", "--yes"));
  const left = await schemas();
  const second = await operate(url, "prune", "--yes");
  const third = await operate(url, "prune", "--yes");

  expect(first.code).toBe(1);
  expect(first.out).toContain("kept: a process works in it");
  expect(left).toEqual([serving, active, running, "ponder_notes", "ponder_sync"].toSorted());
  expect([second.code, third.code, third.out]).toEqual([0, 0, "nothing to drop\n"]);
  expect(await schemas()).toEqual([serving, active, "ponder_notes", "ponder_sync"].toSorted());
  expect([...(await readCheckpoints(db)).keys()]).not.toContain(`${serving}_previous`);
});

it("op prune drops another version's tables once no projector follows them", async () => {
  const { db, url } = database;
  await sql`create schema activity_v3`.execute(db);
  const position = (await readCheckpoints(db)).get(serving)?.position ?? 0n;
  await sql`
    insert into engine.checkpoint values ('activity_v3', 3, '', ${position - 1n})`.execute(db);
  const followed = await operate(url, "prune", "--yes");
  await sql`
    update engine.checkpoint set updated_at = now() - interval '2 minutes' where projection = 'activity_v3'`.execute(
    db,
  );
  const left = await operate(url, "prune", "--yes");

  expect(followed.out).toBe("nothing to drop\n");
  expect(left.out).toContain("of another version, which no projector follows");
  expect(await schemas()).not.toContain("activity_v3");
});
