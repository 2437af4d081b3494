import { mkdir, readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readStatements } from "#ops/cli/sql.ts";
import { readConfig } from "#ops/config/read-config.ts";
import { environmentOf, operate } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

/** Empty: of statements that depend on what others read those are there that nothing needs. */
let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
});
afterAll(() => database?.drop());

const folder = new URL("../../../docs/sql/", import.meta.url);
const somebody = `0x${"11".repeat(20)}`;

/** Files of `docs/sql` that show a change of these statements to whoever reviews it; written anew with `UPDATE_SQL=1`. */
const shown = {
  "sales.apply": "sales",
  "ownership.apply": "ownership",
  "listings.apply": "listings",
  "bids.apply": "bids",
  "collection_stats.apply": "collection_stats",
  sales: "/v1/sales?chainId=1",
  listings: "/v1/listings?chainId=1&sort=price_asc",
  bids: "/v1/bids?chainId=1",
  collections: "/v1/collections?chainId=1",
  "wallet-tokens": `/v1/wallets/${somebody}/tokens?chainId=1`,
};

it.each(Object.entries(shown))("docs/sql/%s.sql shows the statements", async (name, what) => {
  const source = { url: database.url, config: readConfig(environmentOf(database.url)) };
  const statements = (await readStatements(source, what)) ?? [];
  // Which version it is says nothing of the statements.
  const printed = `${statements.join("\n")}`.replaceAll(/\b(\w+)_v\d+\b/g, "$1");
  const file = new URL(`${name}.sql`, folder);
  if (process.env.UPDATE_SQL === "1") {
    await mkdir(folder, { recursive: true });
    await writeFile(file, printed);
  }
  expect(printed).toBe(await readFile(file, "utf8"));
});

it("op sql prints them, as PostgreSQL gets them", async () => {
  const { code, out } = await operate(database.url, "sql", "listings");
  const file = await readFile(new URL("listings.apply.sql", folder), "utf8");

  expect([code, out.replaceAll(/_v\d+\b/g, "").trim()]).toEqual([0, file.trim()]);
  expect(out).toMatch(/listings_v\d+/);
});

it("op sql refuses what it does not know, and paths that ask more than the database", async () => {
  const unknown = await operate(database.url, "sql", "/v1/unknown");
  const service = await operate(database.url, "sql", "/v1/status");

  expect([unknown.code, unknown.words]).toEqual([2, expect.stringContaining("no such projection")]);
  expect([service.code, service.words]).toEqual([
    1,
    expect.stringContaining("asks more than the database"),
  ]);
});
