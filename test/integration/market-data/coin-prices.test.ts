import fc from "fast-check";
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createApp } from "#api/app.ts";
import { type Coin, coins } from "#chains/coins.ts";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import { dropTarget, type Target } from "#projections/engine/checkpoint.ts";
import { appendObservations } from "#projections/log/append.ts";
import { openDatabase } from "#projections/log/database.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { coinPricesProjection, priceTicked } from "#projections/prices/coin-prices.ts";
import { readPriceAt, readPricesAt } from "#projections/prices/read-prices.ts";
import { createProjection, dumpTable, project } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";
import { runsOf } from "#test/support/thoroughness.ts";

let database: TestDatabase;
let target: Target;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());
beforeEach(async () => {
  const { db } = database;
  for (const schema of ["coin_prices", "coin_prices_other"]) await dropTarget(db, schema);
  await sql`truncate log.fact`.execute(db);
  await sql`update log.head set position = 0`.execute(db);
  target = await createProjection(db, coinPricesProjection);
});

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const today = new Date("2026-03-10T12:34:56Z");

type Tick = { coin: Coin; minuteMs: number; priceE8: bigint };

async function append(ticks: readonly Tick[]): Promise<void> {
  await appendObservations(
    database.db,
    ticks.map((tick) => priceTicked({ ...tick, sources: [] })),
  );
}

const tick = (time: string, price: bigint, coin: Coin = "ethereum"): Tick => ({
  coin,
  minuteMs: Date.parse(time),
  priceE8: price,
});

/** Minutes of a few hours, then full hours, in any order and some of them twice. */
const histories = fc.array(
  fc.record({
    coin: fc.constantFrom(...coins),
    minuteMs: fc
      .oneof(
        fc.nat(6 * 60),
        fc.nat(300).map((hours) => -60 * hours),
      )
      .map((minutes) => Date.parse("2026-03-10T06:00:00Z") + minutes * minute),
    priceE8: fc.bigInt(1n, 10n ** 13n),
  }),
  { minLength: 1, maxLength: 80 },
);

const tables = ["tick", "hour"];
const dump = (schema: string) =>
  Promise.all(tables.map((table) => dumpTable(database.db, `${schema}.${table}`)));

describe("the projection of prices", () => {
  it("is the same in windows of one, seven and all facts, and derived in bulk", async () => {
    const { db } = database;
    await fc.assert(
      fc
        .asyncProperty(histories, fc.constantFrom(1, 7, 10_000), async (history, facts) => {
          for (const piece of [history.slice(0, 20), history.slice(20)]) {
            await append(piece);
            await project(db, [target], facts);
          }
          const other = { projection: coinPricesProjection, schema: "coin_prices_other" };
          await deriveInBulk(db, other);
          expect(await dump("coin_prices")).toEqual(await dump("coin_prices_other"));
        })
        .beforeEach(async () => {
          for (const schema of ["coin_prices", "coin_prices_other"]) await dropTarget(db, schema);
          await sql`truncate log.fact`.execute(db);
          await sql`update log.head set position = 0`.execute(db);
          target = await createProjection(db, coinPricesProjection);
        }),
      { numRuns: runsOf(12, 3) },
    );
  });

  it("holds hours of UTC, whatever the time zone of the session", async () => {
    const { db, url } = database;
    await append([tick("2026-03-10T11:59:00Z", 5n), tick("2026-03-10T12:00:00Z", 7n)]);
    const elsewhere = openDatabase({
      url: `${url}?options=-c%20timezone%3DAsia/Kathmandu`,
      applicationName: "test",
      onIdleError: () => {},
    });
    await project(elsewhere, [target]).finally(() => elsewhere.destroy());
    const { rows } = await sql<{
      hour: Date;
    }>`select hour from coin_prices.hour order by 1`.execute(db);
    expect(rows.map(({ hour: start }) => start.toISOString())).toEqual([
      "2026-03-10T11:00:00.000Z",
      "2026-03-10T12:00:00.000Z",
    ]);
  });
});

describe("the price at a time", () => {
  beforeEach(async () => {
    await append([
      tick("2026-03-10T10:00:00Z", 10n),
      tick("2026-03-10T10:01:00Z", 11n),
      tick("2026-03-10T10:01:00Z", 99n, "apecoin"),
    ]);
    await project(database.db, [target]);
  });

  it.each([
    ["2026-03-10T09:59:59.999Z", null],
    ["2026-03-10T10:00:00.000Z", 10n],
    ["2026-03-10T10:00:59.999Z", 10n],
    ["2026-03-10T10:01:00.000Z", 11n],
    ["2026-03-10T12:01:00.000Z", 11n],
    ["2026-03-10T12:01:00.001Z", null],
  ])("%s is the last one told before, at most two hours ago: %s", async (at, price) => {
    expect(await readPriceAt(database.db, "ethereum", new Date(at))).toBe(price);
  });

  it("is read for many times in the order of the queries, repeated ones included", async () => {
    const at = new Date("2026-03-10T10:05:00Z");
    const before = new Date("2026-03-10T10:00:30Z");
    const asked = [
      { type: "apecoin" as const, at },
      { type: "ethereum" as const, at: before },
      { type: "apecoin" as const, at: before },
      { type: "apecoin" as const, at },
    ];
    expect(await readPricesAt(database.db, asked)).toEqual([99n, 10n, null, 99n]);
    expect(await readPricesAt(database.db, [])).toEqual([]);
  });
});

const History = z.object({
  data: z.object({
    type: z.string(),
    currency: z.string(),
    unit: z.string(),
    interval: z.string(),
    days: z.number(),
    candles: z.array(
      z.object({ t: z.string(), o: z.number(), h: z.number(), l: z.number(), c: z.number() }),
    ),
    summary: z.looseObject({}).nullable(),
  }),
});

describe("GET /v1/crypto/history", () => {
  let api: ApiClient;
  let now = today;

  const open = () => {
    const { db } = database;
    const context = {
      // A database of its own stands for a process of its own: what others were answered is not kept for it.
      db: db.withoutPlugins(),
      siteUrl: "https://site.example.test",
      chains: [33139] as const,
      readStatus: async () => {
        throw new Error("not asked");
      },
      market: openTestMarket(db),
      now: () => now,
    };
    const logger = pino({ level: "silent" });
    return serve(createApp({ context, baseUrl: "https://api.example.test", logger }));
  };

  beforeEach(async () => {
    now = today;
    api = await open();
    return () => api.close();
  });

  async function history(query: string) {
    const { status, body, headers } = await api.get(`/v1/crypto/history?${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return { ...History.parse(body).data, headers };
  }

  it("is empty and without a summary before the first price", async () => {
    expect(await history("type=apecoin")).toMatchObject({
      type: "apecoin",
      currency: "APE",
      unit: "USD",
      interval: "4h",
      days: 30,
      candles: [],
      summary: null,
    });
  });

  it.each([
    [1, "1h"],
    [2, "1h"],
    [3, "4h"],
    [30, "4h"],
    [31, "1d"],
    [365, "1d"],
  ])("over %i days has candles of %s unless told otherwise", async (days, interval) => {
    expect(await history(`type=ethereum&days=${days}`)).toMatchObject({
      days,
      interval,
      currency: "ETH",
    });
    expect(await history(`type=ethereum&days=${days}&interval=4h`)).toMatchObject({
      interval: "4h",
    });
  });

  it.each([
    "",
    "type=dogecoin",
    "type=ETHEREUM",
    "type=ethereum&days=0",
    "type=ethereum&days=366",
    "type=ethereum&days=1.5",
    "type=ethereum&days=-1",
    "type=ethereum&days=",
    "type=ethereum&days=7&days=8",
    "type=ethereum&interval=5m",
  ])("refuses ?%s as invalid_parameters", async (query) => {
    const { status, body } = await api.get(`/v1/crypto/history?${query}`);
    expect(status).toBe(422);
    expect(body).toMatchObject({ success: false, code: "invalid_parameters" });
  });

  it("shows exact prices, leaves empty buckets out and summarizes the period", async () => {
    await append([
      tick("2026-03-09T11:59:00Z", 1n),
      tick("2026-03-09T12:00:00Z", 300_010_000_000n),
      tick("2026-03-09T12:59:00Z", 299_999_999_999n),
      tick("2026-03-10T12:34:00Z", 330_011_000_001n),
    ]);
    await project(database.db, [target]);
    expect(await history("type=ethereum&days=1")).toMatchObject({
      candles: [
        { t: "2026-03-09T12:00:00.000Z", o: 3000.1, h: 3000.1, l: 2999.99999999, c: 2999.99999999 },
        {
          t: "2026-03-10T12:00:00.000Z",
          o: 3300.11000001,
          h: 3300.11000001,
          l: 3300.11000001,
          c: 3300.11000001,
        },
      ],
      summary: {
        first: 3000.1,
        last: 3300.11000001,
        high: 3300.11000001,
        low: 2999.99999999,
        change: 300.01000001,
        changePct: 10,
      },
    });
  });

  it("equals what the log's own facts add up to, in every interval", async () => {
    const start = today.getTime() - 40 * day;
    const walk = (coin: Coin, index: number): Tick => ({
      coin,
      // Hours at first, then minutes with gaps.
      minuteMs:
        index < 900
          ? start - (start % hour) + index * hour
          : today.getTime() - (today.getTime() % minute) - (index - 900) * 7 * minute,
      priceE8: BigInt(60_000_000 + ((index * 7_919) % 9_973) * 1_000 + index),
    });
    const ticks = coins.flatMap((coin) =>
      Array.from({ length: 1_500 }, (_, index) => walk(coin, index)),
    );
    await append(ticks);
    await project(database.db, [target], 700);

    const { rows } = await sql<{ at: Date; price: bigint }>`
      select recorded_at as at, amount as price from log.fact
      where kind = ${kindLiteral("price_ticked")} and payload ->> 'type' = 'apecoin' order by recorded_at`.execute(
      database.db,
    );
    for (const [days, interval, length] of [
      [2, "1h", hour],
      [7, "1h", hour],
      [30, "4h", 4 * hour],
      [365, "1d", day],
    ] as const) {
      const first = today.getTime() - days * day;
      const from = first - (first % length);
      const buckets = new Map<number, number[]>();
      for (const { at, price } of rows) {
        const bucket = at.getTime() - (at.getTime() % length);
        if (bucket >= from)
          buckets.set(bucket, [...(buckets.get(bucket) ?? []), Number(price) / 1e8]);
      }
      const expected = [...buckets].map(([bucket, prices]) => ({
        t: new Date(bucket).toISOString(),
        o: prices.at(0),
        h: Math.max(...prices),
        l: Math.min(...prices),
        c: prices.at(-1),
      }));
      const { candles } = await history(`type=apecoin&days=${days}&interval=${interval}`);
      expect(candles).toEqual(expected);
    }
  });

  it("reads the database once for concurrent requests of the same period", async () => {
    const counts = async (days: number) =>
      (await history(`type=ethereum&days=${days}`)).candles.length;
    expect([await counts(1), await counts(8)]).toEqual([0, 0]);
    await append([tick("2026-03-10T12:00:00Z", 5n)]);
    await project(database.db, [target]);
    expect([await counts(1), await counts(8), await counts(2)]).toEqual([0, 0, 1]);
  });

  it("is cacheable for as long", async () => {
    const kept = async (days: number) =>
      (await history(`type=ethereum&days=${days}`)).headers.get("cache-control");
    expect(await kept(7)).toBe("public, max-age=60");
    expect(await kept(8)).toBe("public, max-age=300");
  });

  it("reads a year of minutes by the hour", async () => {
    const { rows } = await sql<{ "QUERY PLAN": string }>`
      explain select hour, open_e8 from coin_prices.hour
      where coin = 'ethereum' and hour >= now() - interval '365 days' order by hour`.execute(
      database.db,
    );
    expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toContain("hour_pkey");
  });
});
