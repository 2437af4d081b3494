import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import type { Projection } from "#projections/engine/projection.ts";
import type { Session } from "#projections/log/database.ts";
import { dropTargetsAndFacts, dumpTable } from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";

const database = await createDatabase();
const { db } = database;
afterAll(() => database.drop());

const add = (session: Session) =>
  sql`update public.contended set number = number + 1`.execute(session);

/** Its step writes a row that another transaction changes after the snapshot, the first `conflicts` times. */
function contending(conflicts: number): Projection {
  let tries = 0;
  return {
    ...{ name: "contending", version: 1, apply: async () => {} },
    tables: (schema) => [`create table ${schema}.try (number int primary key)`],
    deriveAll: [
      {
        name: "contended",
        derive: async (session, schema) => {
          tries += 1;
          await sql`insert into ${sql.id(schema, "try")} values (${tries})`.execute(session);
          if (tries <= conflicts) await add(db);
          await add(session);
        },
      },
    ],
  };
}

beforeEach(async () => {
  await dropTargetsAndFacts(db);
  await sql`drop table if exists public.contended`.execute(db);
  await sql`create table public.contended as select 0 as number`.execute(db);
});

describe("a derivation in bulk whose snapshot is too old", () => {
  it("does the part again, of which nothing was written", async () => {
    await deriveInBulk(db, { projection: contending(2), schema: "contending" });
    expect(await dumpTable(db, "contending.try")).toEqual(["(3)"]);
    expect(await dumpTable(db, "public.contended")).toEqual(["(3)"]);
  });

  it("ends after some tries", async () => {
    const derived = deriveInBulk(db, { projection: contending(1_000), schema: "contending" });
    await expect(derived).rejects.toMatchObject({ code: "40001" });
  });
});
