import { sql } from "kysely";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createApp } from "#api/app.ts";
import { gaugeUnresolvedEvents } from "#api/status/gauges.ts";
import { allProjections } from "#projections/all.ts";
import { bindViews, bindViewsIfStale } from "#projections/analytics/bind-views.ts";
import { targetOf } from "#projections/engine/checkpoint.ts";
import { prepareProjections, rebuild } from "#projections/engine/rebuild.ts";
import { appendObservations } from "#projections/log/append.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import {
  addressOf,
  appendEvents,
  block,
  dumpTable,
  project,
  setBlocks,
  zeroAddress,
} from "#test/support/database/given.ts";
import { operate } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import {
  type GivenSale,
  soldOnBlur,
  soldOnLooksrare,
  soldOnX2y2,
} from "#test/support/market-data/exchange-sales.ts";
import { transferred } from "#test/support/orders/order-facts.ts";
import { openTestMarket, testFee } from "#test/support/orders/test-market.ts";

const [apes, alice, bob, carol, router] = [1, 2, 3, 4, 5].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];

const projections = allProjections({ feeRecipient: testFee.recipient });
const targets = projections.map(targetOf);
const [first, second, third, last] = [1_000, 1_100, 1_200, 1_300].map((n) => block(1, n)) as [
  Block,
  Block,
  Block,
  Block,
];
type Block = ReturnType<typeof block>;
const ether = 10n ** 18n;

/** Token 7 goes from Alice to Bob and back, on two exchanges; token 8 from Alice to Carol. */
const there: GivenSale = {
  ...{ contract: apes, tokenId: 7n, seller: alice, buyer: bob, priceWei: ether },
  via: router,
};
const back: GivenSale = { ...there, seller: bob, buyer: alice, priceWei: 2n * ether };
const other: GivenSale = { ...there, tokenId: 8n, buyer: carol, priceWei: ether / 2n };

const Row = z.looseObject({
  saleId: z.string().nullable(),
  protocol: z.looseObject({ name: z.string() }).nullable(),
  via: z.string().nullable(),
});
const Answer = z.looseObject({ data: z.array(Row), meta: z.looseObject({}) });

let database: TestDatabase;
let api: ApiClient;

beforeAll(async () => {
  database = await createDatabase();
  const { db } = database;
  await prepareProjections(db, projections, () => {}, bindViews);
  await db.transaction().execute(bindViewsIfStale);
  const context = {
    db,
    siteUrl: "https://site.example.test",
    chains: [1, 33139] as const,
    readStatus: () => Promise.reject(new Error("the status is not used in this test")),
    market: openTestMarket(db),
    now: () => new Date(last.timestamp * 1000),
  };
  const logger = pino({ level: "silent" });
  api = await serve(createApp({ context, baseUrl: "https://api.example.test", logger }));
  const minted = [7n, 8n].map((tokenId, log) =>
    transferred(
      { contract: apes, tokenId, from: zeroAddress, to: alice },
      { at: block(1, 5), log },
    ),
  );
  const minuteMs = Math.floor(first.timestamp / 60) * 60_000 - 60_000;
  const price = { coin: "ethereum" as const, minuteMs, priceE8: 2_500n * 10n ** 8n, sources: [] };
  await appendObservations(db, [priceTicked(price)]);
  await appendEvents(db, [
    ...minted,
    soldOnLooksrare(there, { at: first, log: 10 }),
    soldOnX2y2(back, { at: second, log: 10 }),
    soldOnLooksrare(other, { at: third, log: 10 }),
  ]);
  await project(db, targets);
});
afterAll(async () => {
  await api?.close();
  await database?.drop();
});

async function list(path: string) {
  const { status, body } = await api.get(path);
  expect(status, `${path} ${JSON.stringify(body)}`).toBe(200);
  return Answer.parse(body);
}
async function one(path: string): Promise<Record<string, unknown>> {
  const { status, body } = await api.get(path);
  expect(status, `${path} ${JSON.stringify(body)}`).toBe(200);
  return (body as { data: Record<string, unknown> }).data;
}

const looksrare = { name: "looksrare", version: "2" };
const x2y2 = { name: "x2y2", version: "1" };
const washTrade = { rule: "back_and_forth" };

/** What each sale is shown with, newest first. */
const shown = {
  other: { protocol: looksrare, marketplace: "looksrare", via: router, washTrade: null, usd: 1250 },
  back: { protocol: x2y2, marketplace: "x2y2", via: router, washTrade, usd: 5000 },
  there: { protocol: looksrare, marketplace: "looksrare", via: router, washTrade, usd: 2500 },
};

describe("sales of other exchanges", () => {
  it.each([
    ["", ["other", "back", "there"]],
    ["&protocol=looksrare", ["other", "there"]],
    ["&protocol=x2y2&marketplace=x2y2", ["back"]],
    ["&protocol=x2y2&marketplace=looksrare", []],
    ["&protocol=seaport", []],
    ["&marketplace=looksrare&token_id=7", ["there"]],
    [`&wallet=${bob}`, ["back", "there"]],
    [`&collection=${apes}&protocol=looksrare&since=${timeOf(second)}`, ["other"]],
  ] as const)("are listed at /v1/sales%s, and each by its id", async (query, names) => {
    const { data, meta } = await list(`/v1/sales?chainId=1${query}`);
    expect(data).toMatchObject(names.map((name) => shown[name]));
    expect(meta.total).toBe(names.length);
    for (const row of data) expect(await one(`/v1/sales/${row.saleId}?chainId=1`)).toEqual(row);
  });

  it("are the last sales of their tokens", async () => {
    const { body } = await api.get(`/v1/collections/${apes}/tokens?chainId=1`);
    const tokens = (body as { data: { tokenId: string; lastSale: unknown }[] }).data;
    const sold = new Map(tokens.map(({ tokenId, lastSale }) => [tokenId, lastSale]));
    expect(sold.get("7")).toMatchObject(shown.back);
    expect(sold.get("8")).toMatchObject(shown.other);
    const token = await one(`/v1/collections/${apes}/tokens/7?chainId=1`);
    expect(token.lastSale).toEqual(sold.get("7"));
  });

  it("are counted in the figures of their collection, wash trades also apart", async () => {
    expect(await one(`/v1/collections/${apes}?chainId=1`)).toMatchObject({
      stats: {
        sales: { all: 3 },
        volumeWei: { all: String((7n * ether) / 2n) },
        volumeUsd: { all: 8750 },
        washSales: { all: 2 },
        washVolume: { all: 3 },
        washVolumeWei: { all: String(3n * ether) },
      },
    });
    const { rows } = await sql<{ sales: string; wei: string }>`
      select sum(sales)::text as sales, sum(wei)::text as wei from collection_stats.minute_sales`.execute(
      database.db,
    );
    expect(rows).toEqual([{ sales: "3", wei: String((7n * ether) / 2n) }]);
  });

  it.each([
    ["the chain", "", ["other", "back", "there"]],
    ["a collection", `&collection=${apes}`, ["other", "back", "there"]],
    ["a wallet", `&wallet=${bob}`, ["back", "there"]],
  ] as const)("are in the activity of %s", async (_, query, names) => {
    const { data } = await list(`/v1/activity?chainId=1&type=sale${query}`);
    expect(data).toMatchObject(names.map((name) => shown[name]));
  });

  it("are in the activity of a token and of their transaction", async () => {
    const { data } = await list(`/v1/collections/${apes}/tokens/8/activity?chainId=1`);
    expect(data[0]).toMatchObject(shown.other);
    const { txHash } = data[0] as { txHash?: string };
    const transaction = await one(`/v1/transactions/${txHash}?chainId=1`);
    expect(transaction).toMatchObject({ sales: [shown.other], activity: [shown.other] });
  });

  it("are in the feed, which does not say what later sales decide", async () => {
    const { data } = await list("/v1/events?chainId=1&after=0-0&type=sale");
    expect(data).toMatchObject(
      [shown.there, shown.back, shown.other].map(({ protocol, marketplace, via }) => {
        return { protocol, marketplace, via };
      }),
    );
    expect(data.some((row) => "washTrade" in row)).toBe(false);
  });

  it("are in the views of analysts", async () => {
    const { rows } = await sql`
      select protocol, protocol_version, marketplace, via, wash_trade, total_usd from analytics.sales
      order by block_timestamp`.execute(database.db);
    const expected = [shown.there, shown.back, shown.other].map((row) => ({
      ...{ protocol: row.protocol.name, protocol_version: row.protocol.version },
      ...{ marketplace: row.marketplace, via: row.via, wash_trade: row.washTrade?.rule ?? null },
      total_usd: row.usd,
    }));
    expect(rows).toEqual(expected);
  });

  it("are exported, and explained by their event", async () => {
    const exported = await operate(database.url, "export", "sales", "--format", "csv");
    const [header = "", ...lines] = exported.out.split("\r\n").slice(0, -1);
    const place = header.split(",").indexOf("protocol");
    expect(lines.map((line) => line.split(",")[place]).toSorted()).toEqual([
      ...["looksrare", "looksrare", "x2y2"],
    ]);

    const [sale] = (await list("/v1/sales?chainId=1&protocol=x2y2")).data;
    const explained = await operate(database.url, "explain", "sale", `${sale?.saleId}`, "--json");
    expect([explained.code, explained.words]).toEqual([0, ""]);
    expect(JSON.parse(explained.out)).toMatchObject({
      rows: [{ protocol: "x2y2", protocol_version: "1" }],
      facts: [{ kind: "exchange_event", logIndex: 10, counts: true, block: { number: 1_100 } }],
    });
  });

  it("leave no trace when a block is retracted, and are the same in a rebuild", async () => {
    const { db } = database;
    const state = () =>
      Promise.all(
        [
          ...["sale", "day", "wash_trade", "unresolved_event_total"].map(
            (table) => `sales.${table}`,
          ),
          ...["minute_sales", "wash_trade", "contract", "collection"].map(
            (table) => `collection_stats.${table}`,
          ),
        ].map((table) => dumpTable(db, table)),
      );
    const before = await state();
    await setBlocks(db, "block_retracted", [second]);
    await project(db, targets);
    const { data } = await list("/v1/sales?chainId=1");
    expect(data).toMatchObject([shown.other, { ...shown.there, washTrade: null }]);
    expect(await one(`/v1/collections/${apes}?chainId=1`)).toMatchObject({
      stats: { sales: { all: 2 }, washSales: { all: 0 }, washVolumeWei: { all: "0" } },
    });
    await setBlocks(db, "block_readopted", [second]);
    await project(db, targets);
    expect(await state()).toEqual(before);
    for (const projection of projections) await rebuild(db, projection, () => {});
    expect(await state()).toEqual(before);
  });
});

describe("events that make no sale", () => {
  const plain: GivenSale = {
    ...{ contract: apes, tokenId: 9n, seller: alice, buyer: carol, priceWei: ether },
  };
  const huge = 10n ** 28n;
  const bad = [
    soldOnX2y2({ ...plain, args: { item: { price: "1", data: "0x1234" } } }, { at: last, log: 10 }),
    soldOnBlur(plain, 2n, { at: last, log: 20 }),
    soldOnLooksrare({ ...plain, priceWei: huge }, { at: last, log: 30 }),
    soldOnX2y2({ ...plain, movedTo: router }, { at: last, log: 40 }),
  ];
  const expected = [
    ["x2y2", "transfer_mismatch", 40],
    ["looksrare", "price_out_of_range", 30],
    ["blur", "unknown_type", 20],
    ["x2y2", "undecodable", 10],
  ];

  it("hold up nothing: the sale after them is served", async () => {
    await appendEvents(database.db, [...bad, soldOnLooksrare(plain, { at: last, log: 50 })]);
    await project(database.db, targets);
    const { data } = await list("/v1/sales?chainId=1&token_id=9");
    expect(data).toMatchObject([{ protocol: looksrare, seller: alice, buyer: carol }]);
    const { rows } = await sql`
      select from log.fact where kind = ${factKind.fact_quarantined}`.execute(database.db);
    expect(rows).toEqual([]);
  });

  it("are counted by a gauge", async () => {
    const registry = new Registry();
    gaugeUnresolvedEvents(registry, database.db, [1, 33139]);
    const text = await registry.metrics();
    for (const [protocol, reason] of expected) {
      const labels = `chain="1",protocol="${protocol}",reason="${reason}"`;
      expect(text).toContain(`exchange_events_unresolved{${labels}} 1`);
    }
  });

  it("are listed by op sources unresolved, with transaction and why", async () => {
    const run = async (...args: string[]) => {
      const { code, out } = await operate(database.url, "sources", "unresolved", "--json", ...args);
      expect(code).toBe(0);
      return JSON.parse(out) as { total: number; events: Record<string, unknown>[] };
    };
    const { total, events } = await run();
    expect(total).toBe(4);
    expect(events.map((one) => [one.protocol, one.reason, one.logIndex])).toEqual(expected);
    const [mismatch] = events;
    expect(mismatch).toMatchObject({ chainId: 1, blockNumber: last.number });
    expect(mismatch?.transactionHash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(mismatch?.why).toContain("other parties");
    const ofBlur = await run("--protocol", "blur", "--reason", "unknown_type");
    expect(ofBlur.events).toHaveLength(1);
    expect((await run("--reason", "duplicate")).total).toBe(0);
  });

  it("leave no trace when their block is retracted", async () => {
    await setBlocks(database.db, "block_retracted", [last]);
    await project(database.db, targets);
    expect(await dumpTable(database.db, "sales.unresolved_event")).toEqual([]);
    expect(await dumpTable(database.db, "sales.unresolved_event_total")).toEqual([]);
  });
});

function timeOf({ timestamp }: Block): string {
  return new Date(timestamp * 1000 + 1000).toISOString();
}
