import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { sql } from "kysely";
import { pino } from "pino";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { indexedSources, sourceFilters } from "#ops/ponder/indexed-sources.ts";
import { ponderSettings } from "#ops/ponder/ponder-process.ts";
import { readActivity } from "#projections/activity/read-activity.ts";
import { allProjections } from "#projections/all.ts";
import { targetOf } from "#projections/engine/checkpoint.ts";
import { prepareProjections, rebuild } from "#projections/engine/rebuild.ts";
import { tick } from "#projections/engine/tick.ts";
import { exchanges } from "#projections/exchanges/exchanges.ts";
import type { Exchange } from "#projections/exchanges/model/exchange.ts";
import { appendBlockStates } from "#projections/log/blocks.ts";
import { recordChain } from "#projections/log/recording/recorder.ts";
import { coreIndexer } from "#projections/log/sources.ts";
import { addressOf, block, dumpTable, zeroAddress } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { openTestMarket, testFee } from "#test/support/orders/test-market.ts";
import { createPonderTables, type Emitted, emit } from "../log/ponder-tables.ts";
import { bazaar, bazaarAddress, bazaarFees } from "./example-exchange/exchange.ts";

const root = resolve(import.meta.dirname, "../../..");
const chainId = 33139;
const schema = "ponder_33139_example";
const [apes, alice, bob] = [1, 2, 3].map(addressOf) as [Address, Address, Address];
const projections = allProjections({ feeRecipient: testFee.recipient });
const targets = projections.map(targetOf);
const [mintBlock, saleBlock] = [block(chainId, 8), block(chainId, 9)];

/** The line of the guide: the entry at the end of the table. */
const table = exchanges as Exchange[];

let database: TestDatabase;
let api: ApiClient;

beforeAll(async () => {
  table.push(bazaar);
  database = await createDatabase();
  const { db } = database;
  await prepareProjections(db, projections, () => {});
  await createPonderTables(db, schema, chainId);
  const context = {
    db,
    siteUrl: "https://site.example.test",
    chains: [1, 33139] as const,
    readStatus: () => Promise.reject(new Error("the status is not used in this test")),
    market: openTestMarket(db),
    now: () => new Date(saleBlock.timestamp * 1000),
  };
  const logger = pino({ level: "silent" });
  api = await serve(createApp({ context, baseUrl: "https://api.example.test", logger }));
  await emit(db, schema, [minted, sold]);
  await record();
});
afterAll(async () => {
  table.splice(table.indexOf(bazaar), 1);
  await api?.close();
  await database?.drop();
});

const minted: Emitted = {
  block: mintBlock,
  logIndex: 0,
  source: "Erc721",
  name: "Transfer",
  address: apes,
  args: { from: zeroAddress, to: alice, tokenId: "7" },
};
const sold: Emitted = {
  block: saleBlock,
  logIndex: 4,
  source: "Bazaar",
  name: "Sold",
  address: bazaarAddress,
  args: { seller: alice, buyer: bob, collection: apes, tokenId: "7", price: "1000", fee: "25" },
  sender: bob,
  target: bazaarAddress,
};

async function record() {
  const canonicalHashes = async (numbers: readonly bigint[]) =>
    new Map(numbers.map((number) => [number, block(chainId, Number(number)).hash]));
  const recording = {
    ...{ chainId, indexer: coreIndexer, canonicalHashes },
    ...{ now: () => new Date(), fence: async () => {} },
  };
  while ((await recordChain(database.db, recording)).more);
  await tick(database.db, targets);
}

async function get(path: string) {
  const { status, body } = await api.get(path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as { data: Record<string, unknown>[]; meta: { total: number } };
}

describe("an exchange that is added as the guide says", () => {
  const config = { chainId, startBlock: null, collections: "all", wrappedNativeEvents: "all" };

  it("is indexed by Ponder and audited, from its first block on", () => {
    const sources = indexedSources(config as never, { collections: [] });
    const settings = ponderSettings(
      { sources, databaseUrl: "" },
      { addressFor: () => ({ rpcUrl: "http://127.0.0.1:1", wsUrl: "ws://127.0.0.1:1" }) },
    );
    expect(settings.sources.find(({ name }) => name === "Bazaar")).toMatchObject({
      addresses: [bazaarAddress],
      firstBlock: 7,
      events: [{ name: "Sold" }],
    });
    expect(sourceFilters(sources.sources)).toContainEqual(
      expect.objectContaining({
        addresses: [bazaarAddress],
        topics: [expect.any(String), null, null],
      }),
    );
  });

  it("shows its sale on /v1/sales", async () => {
    const { data, meta } = await get(`/v1/sales?chainId=${chainId}`);
    expect(meta.total).toBe(1);
    expect(data).toMatchObject([
      {
        ...{ contract: apes, tokenId: "7", seller: alice, buyer: bob, side: "ask" },
        ...{ priceWei: "1000", marketplace: "bazaar", orderHash: null, logIndex: 4 },
        protocol: { name: "bazaar", version: "1", address: bazaarAddress },
        fees: [{ recipient: bazaarFees, wei: "25", bps: 250, kind: "other" }],
      },
    ]);
  });

  it("shows its sale in the feed", async () => {
    const { data } = await get(`/v1/events?chainId=${chainId}&after=0-0`);
    expect(data.map(({ type }) => type)).toEqual(["mint", "sale"]);
  });

  it("shows its sale in the activity", async () => {
    const filter = { chainId, types: null, contractIds: null, tokenId: null, wallet: null };
    const slice = { limit: 10, after: null, since: null };
    const { rows } = await readActivity(database.db, filter, slice);
    const events = rows.flatMap((row) => ("event" in row ? [row.event] : []));
    expect(events).toMatchObject([
      { type: "sale", marketplace: "bazaar", priceWei: 1000n, from: alice, to: bob },
      { type: "mint" },
    ]);
  });

  it("counts its sale in the stats of the collection", async () => {
    const { data } = await get(`/v1/collections/${apes}?chainId=${chainId}`);
    expect(data).toMatchObject({ stats: { sales: { all: 1 } } });
  });

  it("makes the same rows in a rebuild", async () => {
    const { db } = database;
    const tables = ["sales.sale", "sales.volume", "collection_stats.minute_sales"];
    const dump = () => Promise.all(tables.map((table) => dumpTable(db, table)));
    const before = await dump();
    for (const projection of projections) await rebuild(db, projection, () => {});
    expect(before.map((rows) => rows.length)).toEqual([1, 1, 1]);
    expect(await dump()).toEqual(before);
  });

  it("removes its sale when its block is retracted", async () => {
    const { db } = database;
    const { rows } = await sql<{ block_id: bigint }>`
      select block_id from log.block where number = ${saleBlock.number}`.execute(db);
    const blocks = rows.map((row) => row.block_id);
    await db
      .transaction()
      .execute((session) => appendBlockStates(session, "block_retracted", blocks, new Date()));
    await tick(db, targets);
    expect((await get(`/v1/sales?chainId=${chainId}`)).data).toEqual([]);
    const { data } = await get(`/v1/collections/${apes}?chainId=${chainId}`);
    expect(data).toMatchObject({ stats: { sales: { all: 0 } } });
  });
});

describe("docs/adding-an-exchange.md", () => {
  const guide = readFileSync(resolve(root, "docs/adding-an-exchange.md"), "utf8");

  it("names at most five files to touch", () => {
    const steps = [...guide.matchAll(/^\d+\. `([\w./<>-]+)`/gm)].map(([, path]) => path);
    expect(steps.length).toBeGreaterThan(2);
    expect(steps.length).toBeLessThanOrEqual(5);
  });

  it("names files that exist", () => {
    const paths = [
      ...guide.matchAll(/`((?:abis|chains|projections|api|src|test|docs)\/[\w./-]+)`/g),
    ];
    expect(paths.length).toBeGreaterThan(5);
    for (const [, path = ""] of paths)
      expect([path, existsSync(resolve(root, path))]).toEqual([path, true]);
  });
});
