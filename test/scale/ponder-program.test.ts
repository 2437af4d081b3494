import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ponderDirectory } from "../../api/run/programs/installed-paths.ts";
import { insertRows } from "../../api/run/programs/ponder/insert-rows.ts";
import { type OrphanGuard, startOrphanGuard } from "../../api/run/supervisor/orphan-guard.ts";
import { seedMarket } from "../../devnet/market/seed.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { asInstalled, startPonderAlone } from "../support/chain/ponder.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";

const chainId = 33139;
const schema = "ponder_alone";
/** Of the cache of the chain; `intervals` are the blocks that it holds. */
const cached = ["blocks", "transactions", "logs", "intervals"];
const fourDays = 4 * 86_400;

let market: Market;
let orphanGuard: OrphanGuard;

beforeAll(async () => {
  orphanGuard = startOrphanGuard();
  market = await openMarket({ chainId, timestamp: Math.floor(Date.now() / 1_000) - fourDays });
  await seedMarket(market.client, { chainId, seed: 7 });
});

afterAll(async () => {
  await market?.stop();
  orphanGuard?.killAll();
});

async function indexed(tuning?: typeof asInstalled): Promise<TestDatabase> {
  const database = await createDatabase();
  const chain = { chainId, rpcUrl: market.anvil.rpcUrl } as const;
  const options = { chain, databaseUrl: database.url, schema, orphanGuard };
  const ponder = await startPonderAlone({ ...options, ...(tuning && { tuning }) });
  await ponder.stop();
  return database;
}

/** All rows of a table, as text and in an order of their own. */
async function rowsOf({ db }: TestDatabase, table: string): Promise<string[]> {
  const { rows } = await sql<{ row: string }>`
    select t::text as row from ${sql.table(table)} t order by 1`.execute(db);
  return rows.map(({ row }) => row);
}

/** As Ponder encodes a transaction, with what an array in SQL has to quote. */
const transactionOf = (transactionIndex: number) => ({
  ...{ chainId: 1n, blockNumber: 7n, transactionIndex, hash: "0x1", blockHash: "0x2" },
  ...{ from: "0x3", to: null, input: 'NULL, {"\\"} \n', value: 2n ** 200n, nonce: 0 },
  ...{ r: "", s: null, v: null, type: "null", gas: 0n, gasPrice: undefined },
  ...{ maxFeePerGas: null, maxPriorityFeePerGas: null, accessList: '[{"address":"0x4"}]' },
});

test("the program stores what the installed Ponder stores, in its cache and in our table", async () => {
  const [ours, installed] = await Promise.all([indexed(), indexed(asInstalled)]);
  const events = await rowsOf(ours, `${schema}.event`);
  expect(events.length).toBeGreaterThan(400);
  expect(events).toEqual(await rowsOf(installed, `${schema}.event`));
  for (const table of cached) {
    const rows = await rowsOf(ours, `ponder_sync.${table}`);
    expect(rows, table).toEqual(await rowsOf(installed, `ponder_sync.${table}`));
    expect(rows.length, table).toBeGreaterThan(0);
  }

  // The same again, and twice in one statement, is stored once.
  const pool = new pg.Pool({ connectionString: ours.url });
  const path = join(ponderDirectory, "dist/esm/sync-store/schema.js");
  const { transactions } = await import(pathToFileURL(path).href);
  const key = [transactions.chainId, transactions.blockNumber, transactions.transactionIndex];
  for (const indexes of [[0], [0, 1, 1]]) {
    await insertRows({ $client: pool }, transactions, indexes.map(transactionOf), key);
  }
  const { rows } = await pool.query(`
    select transaction_index, "to", input, value::text, r, v, type, gas_price, access_list
    from ponder_sync.transactions where chain_id = 1 order by transaction_index`);
  const { input, accessList: access_list } = transactionOf(0);
  const stored = { input, access_list, to: null, value: `${2n ** 200n}`, r: "", v: null };
  const others = { ...stored, type: "null", gas_price: null };
  expect(rows).toEqual([0, 1].map((transaction_index) => ({ ...others, transaction_index })));
  await pool.end();
  await Promise.all([ours.drop(), installed.drop()]);
});
