import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { traitsPage } from "#api/v1/collections/traits.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { matchKey, traitTypeKey } from "#projections/engine/trait-keys.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

const values = 1_700;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await seed(1, "Fur", values);
  await seed(2, "Цвет ШЕРСТИ", 1);
});
afterAll(() => database?.drop());

async function seed(contractId: number, type: string, count: number): Promise<void> {
  await sql`
    insert into traits.trait (
      contract_id, trait_key, match_key, type, type_key, value, is_number, is_numeric, tokens, live, listed)
    select ${contractId}::int, md5(value)::uuid, ${matchKey(sql`type`, sql`value`)}, type, ${traitTypeKey(sql`type`)},
           value, false, false, 1, 1, 0
    from (select ${type}::text as type, 'value ' || n as value from generate_series(1, ${count}::int) n) given`.execute(
    database.db,
  );
}

async function page(contractId: number, query: { type?: string; cursor?: string }) {
  const traits = { chainId: 1, contractIds: [contractId], prefix: "mkt", now: new Date() } as const;
  const found = await traitsPage(database.db, traits, query);
  if (isRejection(found)) throw new Error(found.rejected);
  return found;
}

it("hands out cursors that lead to every value of a type, in any spelling of it", async () => {
  const seen: string[] = [];
  const spellings = ["Fur", "fur", "F U R"];
  let cursor: string | undefined;
  for (let pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
    const type = spellings[pages % spellings.length] ?? "Fur";
    const found = await page(1, { type, ...(cursor === undefined ? {} : { cursor }) });
    seen.push(...(found?.types[0]?.values.map(({ value }) => String(value)) ?? []));
    cursor = found?.meta.next_cursor ?? undefined;
  }
  expect(new Set(seen).size).toBe(values);
  expect(seen).toHaveLength(values);
});

it("finds a type whatever its case and spacing, in every script", async () => {
  for (const type of ["Цвет ШЕРСТИ", "цвет шерсти", "ЦВЕТШЕРСТИ"])
    expect((await page(2, { type }))?.types.map((one) => one.type)).toEqual(["Цвет ШЕРСТИ"]);
  expect(await page(2, { type: "Цвет" })).toBeNull();
});
