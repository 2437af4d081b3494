import { sql } from "kysely";
import { pino } from "pino";
import { type Hex, numberToHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect } from "#devnet/client.ts";
import { priceAt } from "#devnet/price-feed.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { backfillPrices } from "#jobs/prices/backfill-prices.ts";
import { aggregators, priceUpdates, tickPrices } from "#jobs/prices/update-prices.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type Exchanges, openExchanges } from "#test/support/market-data/coin-prices-exchanges.ts";
import { runOp } from "#test/support/processes/op.ts";

let database: TestDatabase;
let exchanges: Exchanges;
let anvil: Anvil;
beforeAll(async () => {
  database = await createDatabase();
  exchanges = await openExchanges();
  anvil = await startAnvil({ chainId: 1 });
});
afterAll(async () => {
  await anvil?.stop();
  await exchanges?.close();
  await database?.drop();
});
afterEach(async () => {
  exchanges.reset();
  await sql`truncate log.fact`.execute(database.db);
  await sql`update log.head set position = 0`.execute(database.db);
});

const hour = 3_600_000;
const logger = pino({ level: "silent" });
const minute = Date.parse("2026-03-10T12:34:00Z");

const work = (signal = new AbortController().signal, rpcUrl?: string) => ({
  db: database.db,
  feeds: exchanges.feeds,
  ethereum:
    rpcUrl === undefined
      ? undefined
      : openChainClient({ chainId: 1, rpcUrls: [rpcUrl], timeoutMs: 2_000 }),
  logger,
  signal,
});

type Fact = { type: string; at: Date; price: bigint; sources: { name: string; price: string }[] };

async function facts(type?: string): Promise<Fact[]> {
  const { rows } = await sql<Fact>`
    select payload ->> 'type' as type, recorded_at as at, amount as price, payload -> 'sources' as sources
    from log.fact where kind = ${kindLiteral("price_ticked")} order by position`.execute(
    database.db,
  );
  return rows.filter((fact) => type === undefined || fact.type === type);
}

async function tick(rpcUrl?: string) {
  const origins: Record<string, string> = {};
  await tickPrices(work(undefined, rpcUrl), minute, (coin, origin) => {
    origins[coin] = origin;
  });
  return { origins, ethereum: (await facts("ethereum"))[0] };
}

describe("a price update", () => {
  it("records the median of all exchanges, with their prices, as the price of the minute", async () => {
    exchanges.say("coinbase", "3000.10");
    exchanges.say("kraken", "3000.30");
    exchanges.say("binance", "3001.00000000");
    exchanges.say("okx", "3000.2");
    const { ethereum } = await tick();
    expect(ethereum).toEqual({
      type: "ethereum",
      at: new Date(minute),
      price: 300_025_000_000n,
      sources: [
        { name: "coinbase", price: "300010000000" },
        { name: "kraken", price: "300030000000" },
        { name: "binance", price: "300100000000" },
        { name: "okx", price: "300020000000" },
      ],
    });
    expect(await facts("apecoin")).toHaveLength(1);
  });

  it("leaves out outliers", async () => {
    exchanges.say("coinbase", "3000");
    exchanges.say("kraken", "3001");
    exchanges.say("binance", "2");
    exchanges.say("okx", "3002");
    const { ethereum } = await tick();
    expect(ethereum?.price).toBe(300_100_000_000n);
    expect(ethereum?.sources.map(({ name }) => name)).toEqual(["coinbase", "kraken", "okx"]);
  });

  it("continues with two exchanges while one does not respond and one is broken", async () => {
    exchanges.mood("coinbase", "silent");
    exchanges.mood("kraken", "broken");
    exchanges.say("binance", "3000");
    exchanges.say("okx", "3004");
    const { ethereum, origins } = await tick();
    expect(ethereum?.price).toBe(300_200_000_000n);
    expect(origins).toMatchObject({ ethereum: "exchanges" });
  });

  it("rejects responses that are invalid, redirected or endless, and queries no exchange twice", async () => {
    exchanges.mood("coinbase", "confused");
    exchanges.mood("kraken", "moved");
    exchanges.mood("binance", "endless");
    const { origins } = await tick();
    expect(origins).toEqual({ ethereum: "none", apecoin: "none" });
    expect(await facts()).toEqual([]);
    expect(exchanges.asked).toHaveLength(8);
  });

  it("is one fact, whoever records it and however often", async () => {
    const seen = async (price: string) => {
      for (const { name } of exchanges.feeds) exchanges.say(name, price);
      await tickPrices(work(), minute, () => {});
    };
    await Promise.all([seen("3000"), seen("3001"), seen("3002")]);
    await seen("9");
    expect(await facts("ethereum")).toHaveLength(1);
    expect(await facts("apecoin")).toHaveLength(1);
  });
});

describe("while the exchanges disagree", () => {
  /** `decimals()` is 8; any other call is answered with the five words in storage. */
  const aggregator: Hex = `0x${
    "60003560e01c63313ce567146032576000546000526001546020526002546040526003546060526004546080526" +
    "0a06000f35b600860005260206000f3"
  }`;

  async function answer(price: bigint, ageSeconds: number, { round = 7n, answeredIn = 7n } = {}) {
    const client = connect(anvil);
    const { address } = aggregators.ethereum;
    await client.setCode({ address, bytecode: aggregator });
    const at = BigInt(Math.floor(Date.now() / 1000) - ageSeconds);
    const words = [round, price, at, at, answeredIn];
    for (const [index, word] of words.entries()) {
      const value = numberToHex(BigInt.asUintN(256, word), { size: 32 });
      await client.setStorageAt({ address, index, value });
    }
  }

  function silence(): void {
    for (const { name } of exchanges.feeds) exchanges.mood(name, "broken");
  }

  it("the price of Chainlink is used", async () => {
    await answer(298_765_432_100n, 3_500);
    exchanges.say("coinbase", "3000");
    exchanges.say("kraken", "4000");
    exchanges.mood("binance", "broken");
    exchanges.mood("okx", "broken");
    const { ethereum, origins } = await tick(anvil.rpcUrl);
    expect(ethereum).toMatchObject({
      price: 298_765_432_100n,
      sources: [{ name: "chainlink", price: "298765432100" }],
    });
    expect(origins.ethereum).toBe("chainlink");
  });

  it.each([
    ["an old answer", 300_000_000_000n, 4_300, {}],
    ["no price", 0n, 10, {}],
    ["a negative price", -1n, 10, {}],
    ["the answer of an earlier round", 300_000_000_000n, 10, { round: 8n }],
  ])("Chainlink with %s is not", async (_, price, age, rounds) => {
    silence();
    await answer(price, age, rounds);
    expect((await tick(anvil.rpcUrl)).origins.ethereum).toBe("none");
    expect(await facts()).toEqual([]);
  });

  it("Chainlink is not when a stop cuts the exchanges off", async () => {
    await answer(298_765_432_100n, 10);
    for (const { name } of exchanges.feeds) exchanges.mood(name, "silent");
    const ending = new AbortController();
    const origins: string[] = [];
    const ticking = tickPrices(work(ending.signal, anvil.rpcUrl), minute, (_, origin) => {
      origins.push(origin);
    });
    await until("requests", async () => exchanges.asked.length >= 8);
    ending.abort();
    await ticking;
    expect(origins).toEqual([]);
    expect(await facts()).toEqual([]);
  });

  it("a minute stays without a price where there is no aggregator and where the chain is down", async () => {
    silence();
    await connect(anvil).setCode({ address: aggregators.ethereum.address, bytecode: "0x" });
    expect((await tick(anvil.rpcUrl)).origins.ethereum).toBe("none");
    expect((await tick("http://127.0.0.1:1")).origins.ethereum).toBe("none");
    expect(await facts()).toEqual([]);
  });
});

describe("the price job", () => {
  it("starts at once with the minute and the missing hours, and adds none of them after a restart", async () => {
    const startedAt = Date.now();
    const run = async (isDone: () => Promise<boolean>) => {
      const ending = new AbortController();
      const options = { ...work(ending.signal), pauseMs: 0, historyDays: 7 };
      const kept = runJobs(priceUpdates(options), options);
      try {
        await until("prices", isDone, 240_000);
      } finally {
        ending.abort();
        await kept;
      }
    };
    const hours = 7 * 24 + 1;
    await run(async () => (await facts()).length >= 2 * hours);
    const asked = exchanges.asked.length;
    await run(async () => exchanges.asked.length >= asked + 8);

    const minutes = (await facts()).map(({ type, at }) => `${type} ${at.getTime()}`);
    expect(new Set(minutes).size).toBe(minutes.length);
    expect(exchanges.asked.slice(asked).filter((path) => !/ticker/i.test(path))).toEqual([]);
    const live = (await facts("ethereum")).filter(({ at }) => at.getTime() > startedAt - 60_000);
    expect(live.length).toBeGreaterThan(0);
    expect(live.length).toBeLessThanOrEqual(1 + Math.ceil((Date.now() - startedAt) / 60_000));
  });

  it("stops at once while an exchange does not respond", async () => {
    for (const { name } of exchanges.feeds) exchanges.mood(name, "silent");
    const ending = new AbortController();
    const kept = runJobs(priceUpdates(work(ending.signal)), work(ending.signal));
    await until("requests", async () => exchanges.asked.length >= 8);
    const begun = performance.now();
    ending.abort();
    await kept;
    // The requests' own limit is 5 s.
    expect(performance.now() - begun).toBeLessThan(4_000);
  });
});

describe("hourly history", () => {
  const now = new Date("2026-03-10T12:34:56Z");
  const lastHour = Date.parse("2026-03-10T12:00:00Z");
  const fill = (days: number, signal = new AbortController().signal) =>
    backfillPrices({
      db: database.db,
      feeds: exchanges.feeds,
      coin: "ethereum",
      days,
      now,
      signal,
    });

  it("has the opening prices of the hours, once however often it is fetched", async () => {
    expect(await fill(9)).toMatchObject({ hours: 217, held: 0, appended: 217, missing: 0 });
    expect(await fill(10)).toMatchObject({ hours: 241, held: 217, appended: 24, missing: 0 });

    const found = new Map((await facts()).map(({ at, price }) => [at.getTime(), price]));
    expect(found.size).toBe(241);
    for (let back = 0; back <= 240; back += 1) {
      const price = Number(found.get(lastHour - back * hour)) / 1e8;
      expect(price).toBeCloseTo(priceAt("ETH", lastHour - back * hour), 1);
    }
  });

  it("fetches nothing that exists, and resumes where it was interrupted", async () => {
    const cut = new AbortController();
    const cutOff = backfillPrices({
      db: database.db,
      feeds: exchanges.feeds,
      coin: "ethereum",
      days: 10,
      now,
      signal: cut.signal,
      onProgress: () => cut.abort(),
    });
    await expect(cutOff).rejects.toThrow();
    expect(await facts()).toHaveLength(100);
    exchanges.asked.length = 0;

    expect(await fill(10)).toMatchObject({ held: 100, appended: 141 });
    const asked = exchanges.asked.length;
    expect(asked).toBe(2 * 4);
    await fill(10);
    expect(exchanges.asked).toHaveLength(asked);
  });

  it("queries no exchange for hours before its history", async () => {
    expect(await fill(40)).toMatchObject({ appended: 961, missing: 0, failures: [] });
    const askedOf = (name: string) => exchanges.asked.filter((path) => path.startsWith(`/${name}`));
    expect(askedOf("okx")).toHaveLength(10);
    expect(askedOf("kraken")).toHaveLength(8);
  });

  it("leaves hours empty that too few exchanges have, and fills them later", async () => {
    for (const name of ["coinbase", "kraken", "okx"] as const) exchanges.mood(name, "broken");
    const first = await fill(1);
    expect(first).toMatchObject({ appended: 0, missing: 25 });
    expect(first.failures.toSorted()).toEqual([
      "coinbase: HTTP 503",
      "kraken: HTTP 503",
      "okx: HTTP 503",
    ]);
    exchanges.mood("okx", "well");
    expect(await fill(1)).toMatchObject({ appended: 25, missing: 0 });
  });

  it("does not change the live price of a full hour", async () => {
    for (const { name } of exchanges.feeds) exchanges.say(name, "1234");
    await tickPrices(work(), lastHour, () => {});
    expect(await fill(1)).toMatchObject({ held: 1, appended: 24 });
    const live = (await facts("ethereum")).filter(({ at }) => at.getTime() === lastHour);
    expect(live.map(({ price }) => price)).toEqual([123_400_000_000n]);
  });
});

describe("op prices backfill", () => {
  async function operate(...words: string[]) {
    const urls = exchanges.feeds.map(({ name, url }) => `${name}=${url}`).join(",");
    const settings = {
      DATABASE_URL: database.url,
      DATA_DIR: "/nonexistent",
      PRICE_FEED_URLS: urls,
    };
    const { code, stdout, stderr } = await runOp(settings, "prices", ...words);
    return { code, out: stdout, complaint: stderr };
  }

  it("fills both coins or one, prints what it did, and may be repeated", async () => {
    const one = await operate("backfill", "--type", "apecoin", "--days", "1", "--json");
    expect(one).toMatchObject({ code: 0 });
    expect(JSON.parse(one.out).prices).toEqual([
      { type: "apecoin", hours: 25, held: 0, appended: 25, missing: 0, failures: [] },
    ]);
    const both = await operate("backfill", "--days", "2");
    expect(both.out).toMatch(/ethereum: (48|49) hourly prices appended, 0 already recorded\n/);
    expect(both.out).toMatch(
      /apecoin: (23|24|25) hourly prices appended, 2[45] already recorded\n/,
    );
  });

  it("fails when no exchange answers, and on invalid arguments", async () => {
    for (const { name } of exchanges.feeds) exchanges.mood(name, "broken");
    const failed = await operate("backfill", "--days", "1", "--type", "ethereum");
    expect(failed).toMatchObject({ code: 1 });
    expect(failed.out).toContain("25 without agreement of two exchanges (coinbase: HTTP 503");
    expect(await operate("backfill", "--days", "0")).toMatchObject({ code: 2 });
    expect(await operate("backfill", "--days", "3", "--type", "dogecoin")).toMatchObject({
      code: 2,
    });
  });
});
