import type { Coin, PriceSource } from "../../../projections/facts/price-ticked.ts";
import { exchanges, type HourRange } from "./exchanges.ts";
import type { PriceFeed } from "./feeds.ts";
import { fetchJson } from "./fetch-json.ts";
import { parsePrice } from "./parse-price.ts";

/** `failures`: what is wrong with the exchanges that gave nothing, in words. */
export type Asked<Found> = { found: Found[]; failures: string[] };

/** What every exchange gives for a coin now. None is asked twice. */
export function fetchTickers(
  feeds: readonly PriceFeed[],
  coin: Coin,
  signal: AbortSignal,
): Promise<Asked<PriceSource>> {
  return askAll(feeds, async ({ name, url }) => {
    const { tickerPath, readTicker } = exchanges[name];
    const priceE8 = parsePrice(readTicker(await fetchJson(url + tickerPath(coin), signal)));
    if (priceE8 === undefined) throw new Error("the price is none");
    return { name, priceE8 };
  });
}

/** What an exchange opened hours at, by the hour's unix milliseconds. */
export type PricedHours = { name: string; hours: Map<number, bigint> };

/** What every exchange whose history reaches back to a range opened its hours at, as far as it knows them. */
export function fetchHours(
  feeds: readonly PriceFeed[],
  coin: Coin,
  { range, now }: { range: HourRange; now: Date },
  signal: AbortSignal,
): Promise<Asked<PricedHours>> {
  const ageHours = (now.getTime() - range.toMs) / 3_600_000;
  const reaching = feeds.filter(({ name }) => ageHours <= (exchanges[name].reachHours ?? Infinity));
  return askAll(reaching, async ({ name, url }) => {
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

async function askAll<Found>(
  feeds: readonly PriceFeed[],
  ask: (feed: PriceFeed) => Promise<Found>,
): Promise<Asked<Found>> {
  const failures: string[] = [];
  const answers = await Promise.all(
    feeds.map((feed) =>
      ask(feed).catch((error: Error) => {
        failures.push(`${feed.name}: ${wordsOf(error)}`);
        return undefined;
      }),
    ),
  );
  return { found: answers.filter((answer) => answer !== undefined), failures };
}

/** A schema's complaint is long and quotes nothing of use. */
const wordsOf = (error: Error): string =>
  error.name === "ZodError" ? "the answer is not as published" : error.message;
