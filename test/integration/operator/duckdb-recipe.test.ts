import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { floorSnapshotted } from "#projections/collections/floors.ts";
import { appendObservations } from "#projections/log/append.ts";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import {
  canonicalRows,
  duckdbEngine,
  postgresEngine,
  readAnswers,
} from "#test/support/database/analytics-engines.ts";
import {
  addressOf,
  appendEvents,
  block,
  project,
  zeroAddress,
} from "#test/support/database/given.ts";
import {
  apes,
  appendOrders,
  appendTrades,
  operate,
  prepare,
  retractBlocks,
} from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

/** Blocks of these numbers are a day apart. */
const secondDay = 7_200;

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const { db } = database;
  folder = await mkdtemp(join(tmpdir(), "duckdb-"));
  const minuteMs = 1_700_000_040_000;
  const tick = { coin: "ethereum", minuteMs, priceE8: 2_000_00000000n, sources: [] } as const;
  await appendEvents(db, [
    {
      ...{ kind: "erc721_transfer", block: block(1, 0), logIndex: 0, contract: apes },
      ...{ tokenId: 15n, from: zeroAddress, to: addressOf(1) },
    },
  ]);
  await appendTrades(db, 1, 20);
  await appendOrders(db, 10, 20);
  await appendTrades(db, secondDay, secondDay + 5);
  await appendObservations(db, [
    priceTicked(tick),
    floorSnapshotted({
      ...{ chainId: 1, takenAtMs: minuteMs, floors: new Map([[apes, 1_000n]]), base: null },
    }),
  ]);
  await retractBlocks(db, 3, 4);
  await project(db, await prepare(db));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await database?.drop();
});

/** Runs the exports of `docs/duckdb.md`, to another directory. */
async function runExports(): Promise<void> {
  const recipe = await readFile(join(import.meta.dirname, "../../../docs/duckdb.md"), "utf8");
  const commands = [...recipe.matchAll(/^npm run op -- (export .*)$/gm)];
  expect(commands.length).toBe(5);
  for (const [, command = ""] of commands) {
    const { code, words } = await operate(
      database.url,
      ...command.replace("/srv/exports", folder).split(" "),
    );
    expect([command, code, words]).toEqual([command, 0, expect.stringContaining("rows in")]);
  }
}

/** Which of the questions to PostgreSQL each of the recipe's is; the last one is in words of both. */
const asPostgres = [2, 5, 8];

it("DuckDB reads what op export --by-day wrote, and answers the recipe's questions as PostgreSQL does", async () => {
  await runExports();
  const asked = { chainId: 1, contract: apes, now: "2023-11-16 12:00:00" };
  const postgres = postgresEngine(database.url);
  const expected = await readAnswers(postgres, asked);
  const answers = await readAnswers(duckdbEngine(folder), asked);

  const listings = await postgres.asking((ask) =>
    ask(`select marketplace, status, count(*), min(price_native) from analytics.listings
         where chain_id = 1 group by marketplace, status`),
  );
  expect(answers).toEqual([...asPostgres.map((index) => expected[index]), canonicalRows(listings)]);
  for (const rows of answers) expect(rows.length).toBeGreaterThan(0);
});

it("a file that no manifest names is not read", async () => {
  const days = join(folder, "sales/chain_id=1");
  const countSales = () => duckdbEngine(folder).asking((ask) => ask("select count(*) from sales"));
  const before = await countSales();
  await copyFile(join(days, "day=2023-11-14.parquet"), join(days, "day=1999-01-01.parquet"));
  expect(await countSales()).toEqual(before);
});
