import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, type TestDatabase } from "../postgres.ts";

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
});
