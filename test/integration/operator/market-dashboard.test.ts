import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { floorSnapshotted } from "#projections/collections/floors.ts";
import { appendObservations } from "#projections/log/append.ts";
import { project } from "#test/support/database/given.ts";
import { apes, appendOrders, appendTrades, prepare } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

const Target = z.object({ rawSql: z.string(), format: z.enum(["table", "time_series"]) });
const Dashboard = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(Target).length(1) })),
  templating: z.object({
    list: z.array(z.object({ name: z.string(), type: z.string(), query: z.string() })),
  }),
});

let database: TestDatabase;
let client: pg.Client;
const dashboard = Dashboard.parse(
  JSON.parse(
    await readFile(
      join(import.meta.dirname, "../../../docs/monitoring/market-dashboard.json"),
      "utf8",
    ),
  ),
);

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await appendTrades(database.db, 1, 40);
  await appendOrders(database.db, 30, 40);
  const floors = new Map([[apes, 10n ** 18n]]);
  await appendObservations(database.db, [
    floorSnapshotted({ chainId: 1, takenAtMs: 1_700_000_040_000, floors, base: null }),
  ]);
  await project(database.db, await prepare(database.db));
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

/** What Grafana makes of the macros and variables of a statement, for a time that holds everything. */
function expanded(statement: string): string {
  const [from, to] = ["'2020-01-01T00:00:00Z'", "'2100-01-01T00:00:00Z'"];
  return statement
    .replaceAll(/\$__timeFilter\(([\w.]+)\)/g, `$1 between ${from} and ${to}`)
    .replaceAll("$__timeFrom()", from)
    .replaceAll("$__timeTo()", to)
    .replaceAll(/\$\{chain\}/g, "1")
    .replaceAll(/\$\{collection\}/g, apes);
}

describe("the dashboard of the market", () => {
  it.each(dashboard.panels)("$title is drawn from what the views hold", async ({ targets }) => {
    for (const { rawSql, format } of targets) {
      const { rows, fields } = await client.query(expanded(rawSql));
      expect(rows.length).toBeGreaterThan(0);
      if (format === "time_series") {
        expect(fields[0]?.name).toBe("time");
        expect(rows[0].time).toBeInstanceOf(Date);
      }
    }
  });

  it("offers chains and collections that there are", async () => {
    const queries = dashboard.templating.list.filter(({ type }) => type === "query");
    expect(queries.map(({ name }) => name)).toEqual(["chain", "collection"]);
    const values: string[] = [];
    for (const { query } of queries) {
      const { rows } = await client.query<Record<string, unknown>>(expanded(query));
      values.push(...rows.map((row) => String(Object.values(row)[0])));
    }
    expect(values).toEqual(expect.arrayContaining(["1", apes]));
  });
});
