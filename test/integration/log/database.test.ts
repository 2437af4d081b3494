import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migrate } from "#ops/postgres/migrate.ts";
import { pendingMigrations } from "#projections/log/schema.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

describe("a connection pool", () => {
  let database: TestDatabase;
  let other: pg.Client;

  beforeAll(async () => {
    database = await createDatabase();
    other = new pg.Client({ connectionString: database.url });
    await other.connect();
  });

  afterAll(async () => {
    await other.end();
    await database.drop();
  });

  it("outlives a connection that is cut between two statements of a transaction", async () => {
    const cut = database.db.transaction().execute(async (session) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(session);
      await other.query("select pg_terminate_backend($1, 5000)", [rows[0]?.pid]);
      await sql`select 1`.execute(session);
    });

    await expect(cut).rejects.toThrow();
    expect((await sql`select 1 as one`.execute(database.db)).rows).toEqual([{ one: 1 }]);
  });

  it("accepts migrations of later releases", async () => {
    const { db } = database;
    await sql`insert into ops.migration (name) values ('9999-of-a-later-release')`.execute(db);
    await migrate(db);

    expect(await pendingMigrations(db)).toEqual([]);
  });

  it("tells the migrations it lacks while rebuilds rename and drop schemas", async () => {
    let renaming = true;
    const renamed = other
      .query(`
        do $$ begin
          for i in 1..300 loop
            create schema sales_next;
            create table sales_next.order_place (a int, b int, c int, d int);
            commit;
            alter schema sales_next rename to sales_previous;
            commit;
            drop schema sales_previous cascade;
            commit;
          end loop;
        end $$`)
      .finally(() => {
        renaming = false;
      });
    do expect(await pendingMigrations(database.db)).toEqual([]);
    while (renaming);
    await renamed;
  });
});
