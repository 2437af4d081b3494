import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { priceAt } from "#devnet/price-feed.ts";
import { priceUpdates } from "#jobs/prices/update-prices.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { bucketStart, intervalMs } from "#projections/domain/candles.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { readPriceHistory } from "#projections/prices/read-prices.ts";
import { addressOf, appendEvents, block } from "../support/database/given.ts";
import { until } from "../support/database/pipeline.ts";
import { type Exchanges, openExchanges } from "../support/market-data/coin-prices-exchanges.ts";
import { nfts } from "../support/market-data/token-market.ts";
import { openTokenReads, type TokenReads } from "../support/market-data/token-reads.ts";
import { filled, givenListing } from "../support/orders/order-facts.ts";

let reads: TokenReads;
let exchanges: Exchanges;
beforeAll(async () => {
  exchanges = await openExchanges();
  reads = await openTokenReads();
});
afterAll(async () => {
  await reads?.close();
  await exchanges?.close();
});

const hours = 365 * 24;
const daySeconds = 24 * 60 * 60;

async function countPrices(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from log.fact where kind = ${kindLiteral("price_ticked")}`.execute(
    reads.db,
  );
  return rows[0]?.count ?? 0;
}

/** The price job of a process, until the condition holds. */
async function runJob(isDone: () => Promise<boolean>): Promise<void> {
  const ending = new AbortController();
  const { db } = reads;
  const logger = pino({ level: "silent" });
  const jobs = priceUpdates({
    ...{ db, feeds: exchanges.feeds, ethereum: undefined, pauseMs: 0, logger },
  });
  const job = runJobs(jobs, { logger, signal: ending.signal });
  try {
    await until("prices", isDone, 400_000);
  } finally {
    ending.abort();
    await job;
  }
}

const History = z.object({
  data: z.object({ candles: z.array(z.object({ t: z.string(), o: z.number() })) }),
});
const Sales = z.object({
  data: z.array(z.looseObject({ usd: z.number().nullable(), priceWei: z.string() })),
});

it("a new installation answers a year of prices and the USD of old sales, across a restart", async () => {
  await reads.clear();
  const nowSeconds = Math.floor(Date.now() / 1_000);
  reads.at(BigInt(nowSeconds));
  const soldAt = { ...block(1, 5_000), timestamp: nowSeconds - 200 * daySeconds };
  const terms = { maker: addressOf(300), contract: nfts.punks.address, tokenId: 1n, salt: 1n };
  await appendEvents(reads.db, [filled(givenListing(terms), 1n, { at: soldAt, log: 0 })]);

  await runJob(async () => (await countPrices()) > 500);
  await reads.happens();
  const [begun] = await readPriceHistory(reads.db, new Date());
  expect(begun).toMatchObject({ coin: "ethereum", hours });
  expect(begun?.recorded).toBeGreaterThan(400);
  exchanges.asked.length = 0;

  await runJob(async () => (await countPrices()) > 2 * hours);
  await reads.happens();

  for (const { recorded } of await readPriceHistory(reads.db, new Date())) {
    expect(recorded).toBe(hours);
  }
  const ofEthereum = exchanges.asked.filter((path) => /coinbase.*ETH-USD\/candles/.test(path));
  expect(ofEthereum.length).toBeLessThan(88 - 3);
  for (const type of ["ethereum", "apecoin"]) {
    const history = await reads.answer(`/v1/crypto/history?type=${type}&days=365`);
    expect(History.parse(history).data.candles.length).toBeGreaterThanOrEqual(365);
  }
  const [sale] = Sales.parse(await reads.answer("/v1/sales?chainId=1")).data;
  const hour = bucketStart(soldAt.timestamp * 1_000, intervalMs["1h"]);
  const expected = (Number(sale?.priceWei) / 1e18) * priceAt("ETH", hour);
  expect((sale?.usd ?? 0) / expected).toBeCloseTo(1, 2);
}, 900_000);
