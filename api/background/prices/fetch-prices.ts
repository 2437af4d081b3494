import type { Coin } from "#chains/coins.ts";
import type { PriceSource } from "#projections/prices/coin-prices.ts";
import { exchanges, type HourRange } from "./exchanges.ts";
import type { PriceFeed } from "./feeds.ts";
import { fetchJson } from "./fetch-json.ts";
import { parsePrice } from "./parse-price.ts";

/** `failures`: messages of the exchanges without a price. */
export type FetchedPrices<Found> = { found: Found[]; failures: string[] };

/** Every exchange's current price of a coin, one request each. */
export function fetchTickers(
  feeds: readonly PriceFeed[],
  coin: Coin,
  signal: AbortSignal,
): Promise<FetchedPrices<PriceSource>> {
  return fetchFromAll(feeds, async ({ name, url }) => {
    const { tickerPath, readTicker } = exchanges[name];
    const priceE8 = parsePrice(readTicker(await fetchJson(url + tickerPath(coin), signal)));
    if (priceE8 === undefined) throw new Error("invalid price");
    return { name, priceE8 };
  });
}

/** An exchange's opening prices by hour in unix milliseconds. */
export type PricedHours = { name: string; hours: Map<number, bigint> };

/** Hourly opening prices of every exchange whose history covers the range. */
export function fetchHours(
  feeds: readonly PriceFeed[],
  coin: Coin,
  { range, now }: { range: HourRange; now: Date },
  signal: AbortSignal,
): Promise<FetchedPrices<PricedHours>> {
  const ageHours = (now.getTime() - range.toMs) / 3_600_000;
  const reaching = feeds.filter(
    ({ name }) => ageHours <= (exchanges[name].historyHours ?? Infinity),
  );
  return fetchFromAll(reaching, async ({ name, url }) => {
    const { hoursPath, readHours } = exchanges[name];
    const hours = new Map<number, bigint>();
    for (const { hourMs, price } of readHours(
      await fetchJson(url + hoursPath(coin, range), signal),
    )) {
      const priceE8 = parsePrice(price);
      if (priceE8 !== undefined) hours.set(hourMs, priceE8);
    }
    return { name, hours };
  });
}

async function fetchFromAll<Found>(
  feeds: readonly PriceFeed[],
  ask: (feed: PriceFeed) => Promise<Found>,
): Promise<FetchedPrices<Found>> {
  const failures: string[] = [];
  const answers = await Promise.all(
    feeds.map((feed) =>
      ask(feed).catch((error: Error) => {
        failures.push(`${feed.name}: ${messageOf(error)}`);
        return undefined;
      }),
    ),
  );
  return { found: answers.filter((answer) => answer !== undefined), failures };
}

/** Zod's messages are long and not useful here. */
const messageOf = (error: Error): string =>
  error.name === "ZodError" ? "unexpected response" : error.message;
