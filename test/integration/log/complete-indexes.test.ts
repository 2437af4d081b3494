import { sql } from "kysely";
import { afterAll, expect, it } from "vitest";
import { migrate } from "#ops/postgres/migrate.ts";
import { checkServer } from "#ops/reports/find-server-problems.ts";
import type { Database } from "#projections/log/database.ts";
import { areIndexesComplete, completeIndexes } from "#projections/log/schema.ts";
import { addressOf, appendEvents, block } from "#test/support/database/given.ts";
import { repartition } from "#test/support/database/partitions.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

const open: TestDatabase[] = [];
afterAll(async () => {
  for (const database of open) await database.drop();
});

const SIZE = 100;
const append = async (db: Database, from: number, to: number) =>
  await appendEvents(
    db,
    Array.from({ length: to - from }, (_, index) => ({
      kind: "order_cancelled",
      block: block(1, from + index),
      logIndex: 0,
      contract: addressOf(50),
      from: addressOf(1),
      orderHash: block(1, from + index).hash,
    })),
  );

/** A log of some partitions, with an index of the log that none of them has: in the place of `fact_order`, before it. */
async function givenLog(): Promise<Database> {
  const database = await createDatabase();
  open.push(database);
  const { db } = database;
  await repartition(db, SIZE);
  await append(db, 0, 350);
  await sql`create index fact_order_next on only log.fact (order_hash, kind, position)`.execute(db);
  return db;
}

type Index = { name: string; columns: string; isValid: boolean };

async function readOrderIndexes(db: Database): Promise<Index[]> {
  const { rows } = await sql<Index>`
    select x.relname as name, regexp_replace(pg_get_indexdef(x.oid), '^.* USING', '') as columns, i.indisvalid as "isValid"
    from pg_index i join pg_class x on x.oid = i.indexrelid
    where x.relnamespace = 'log'::regnamespace and x.relname ~ '^fact_order' order by x.relname`.execute(
    db,
  );
  return rows;
}

const complete = (partitions: number) =>
  ["fact_order", ...Array.from({ length: partitions }, (_, at) => `fact_order_${at * SIZE}`)].map(
    (name) => ({ name, columns: ' btree (order_hash, kind, "position")', isValid: true }),
  );

it("an index of the log is built beside appends, and then takes the former one's place", async () => {
  const db = await givenLog();
  const before = [
    await areIndexesComplete(db),
    (await checkServer(db)).map(({ finding }) => finding),
  ];
  let building: Promise<boolean> | undefined;
  await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (session) => {
      // Its snapshot is what the build of an index waits for.
      await sql`select from log.contract`.execute(session);
      building = completeIndexes(db);
      for (let index = 350; index < 480; index += 1) await append(db, index, index + 1);
      expect(await areIndexesComplete(db)).toBe(false);
    });

  expect(before).toEqual([false, expect.arrayContaining([expect.stringContaining("an index")])]);
  expect([await building, await areIndexesComplete(db)]).toEqual([true, true]);
  expect(await readOrderIndexes(db)).toEqual(complete(6));
  expect((await append(db, 0, 480)).appended).toBe(0);
});

it("a build that was ended is begun again, and a built part is not built again", async () => {
  const db = await givenLog();
  await sql`create index fact_order_next_0 on log.fact_0 (order_hash, kind, position)`.execute(db);
  const { rows: built } = await sql`
    select pg_relation_filenode('log.fact_order_next_0') as file`.execute(db);
  await sql`create index fact_order_next_100 on log.fact_100 (order_hash)`.execute(db);
  await sql`
    update pg_index set indisvalid = false where indexrelid = 'log.fact_order_next_100'::regclass`.execute(
    db,
  );
  await migrate(db);

  const { rows } = await sql`select pg_relation_filenode('log.fact_order_0') as file`.execute(db);
  expect(rows).toEqual(built);
  expect(await readOrderIndexes(db)).toEqual(complete(4));
  await migrate(db);
  expect(await readOrderIndexes(db)).toEqual(complete(4));
});
