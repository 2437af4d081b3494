import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import type { Coin } from "#chains/coins.ts";
import { appendObservations } from "#projections/log/append.ts";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import { addressOf, appendEvents, block } from "#test/support/database/given.ts";
import { nfts } from "#test/support/market-data/token-market.ts";
import { openTokenReads, type TokenReads } from "#test/support/market-data/token-reads.ts";
import { filled, givenListing } from "#test/support/orders/order-facts.ts";

let reads: TokenReads;
beforeAll(async () => {
  reads = await openTokenReads();
});
afterAll(() => reads.close());

const hourMs = 3_600_000;
const soldAt = block(1, 5_000);
const soldMs = soldAt.timestamp * 1_000 - ((soldAt.timestamp * 1_000) % 60_000);

const tick = (coin: Coin, minuteMs: number, usd: bigint) =>
  priceTicked({ coin, minuteMs, priceE8: usd * 10n ** 8n, sources: [] });

const Sales = z.object({
  data: z.array(z.looseObject({ priceWei: z.string(), usd: z.number().nullable() })),
});

const usdOfTheSale = async () => {
  const { data } = Sales.parse(await reads.answer("/v1/sales?chainId=1"));
  return data.map(({ usd }) => usd);
};

it("a sale tells its price in USD at the coin's last price before it, however old the answer", async () => {
  await reads.clear();
  const order = givenListing({
    maker: addressOf(300),
    contract: nfts.punks.address,
    tokenId: 1n,
    salt: 1n,
  });
  await appendEvents(reads.db, [filled(order, 1n, { at: soldAt, log: 0 })]);
  await reads.happens();
  const { data } = Sales.parse(await reads.answer("/v1/sales?chainId=1"));
  const priceWei = Number(data[0]?.priceWei);
  expect(await usdOfTheSale()).toEqual([null]);

  await appendObservations(reads.db, [
    tick("ethereum", soldMs - 3 * hourMs, 9_000n),
    tick("apecoin", soldMs, 1n),
    tick("ethereum", soldMs + 60_000, 8_000n),
  ]);
  await reads.happens();
  expect(await usdOfTheSale()).toEqual([null]);

  await appendObservations(reads.db, [
    tick("ethereum", soldMs - 2 * 60_000, 7_000n),
    tick("ethereum", soldMs - 60_000, 2_500n),
  ]);
  await reads.happens();
  const [usd] = await usdOfTheSale();
  expect(usd).toBeCloseTo((priceWei / 1e18) * 2_500, 6);
});
