import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { migrate, pendingMigrations } from "../../../projections/log/migrate.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";

const migration = "0082-no-detached-facts";
let database: TestDatabase;

/** As the release before left it, with two of three partitions detached. */
beforeAll(async () => {
  database = await createDatabase();
  for (const statement of [
    "drop function log.refuse_detach() cascade",
    "create function log.remove_detached_from_stage(bigint[]) returns bigint language sql as 'select 0::bigint'",
    "create function log.refuse_detached(integer, bigint, bigint) returns void language sql as ''",
    `delete from ops.later_migration where name = '${migration}'`,
    `insert into log.archive (first_position, last_position, facts, directory, file, bytes, sha256, digest, detached_at)
     values (0, 39, 40, '/archives', 'fact_0-39.parquet', 1, '', '', now()), (40, 79, 40, '', '', 1, '', '', null),
            (80, 119, 40, '/archives', 'fact_80-119.parquet', 1, '', '', now())`,
  ])
    await sql.raw(statement).execute(database.db);
});

afterAll(() => database.drop());

it("a log whose partitions are detached is refused, with what to do, until they are back", async () => {
  const { db } = database;
  await expect(migrate(db)).rejects.toThrow(
    "facts are in archives alone (positions 0 to 39, 80 to 119): bring them back with the release before this one, op log attach, then migrate again",
  );
  expect(await pendingMigrations(db)).toEqual([migration]);

  await sql`update log.archive set detached_at = null`.execute(db);
  await migrate(db);
  expect(await pendingMigrations(db)).toEqual([]);
});

it("the release before, beside this one or after a rollback, reads that none is detached and detaches none", async () => {
  const { db } = database;
  const { rows } = await sql`
    select from log.archive where detached_at is not null
    union all select from log.detached_block union all select from log.detached_range`.execute(db);
  expect(rows).toEqual([]);
  await expect(
    sql`
      insert into log.detached_range (first_position, chain_id, first_block_id, last_block_id)
      values (0, 1, 0, 1)`.execute(db),
  ).rejects.toThrow("knows no detached partitions");
});
