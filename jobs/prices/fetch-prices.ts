import type { Coin } from "#chains/coins.ts";
import type { PriceSource } from "#projections/prices/coin-prices.ts";
import { type HourRange, type PriceFeed, priceExchanges } from "./exchanges.ts";
import { parsePrice } from "./price.ts";

/** `failures`: messages of the exchanges without a price. */
type FetchedPrices<Found> = { found: Found[]; failures: string[] };

/** Every exchange's current price of a coin, one request each. */
export function fetchTickers(
  feeds: readonly PriceFeed[],
  coin: Coin,
  signal: AbortSignal,
): Promise<FetchedPrices<PriceSource>> {
  return fetchFromAll(feeds, async ({ name, url }) => {
    const { tickerPath, readTicker } = priceExchanges[name];
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
    ({ name }) => ageHours <= (priceExchanges[name].historyHours ?? Infinity),
  );
  return fetchFromAll(reaching, async ({ name, url }) => {
    const { hoursPath, readHours } = priceExchanges[name];
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

const timeoutMs = 5_000;
const maxBytes = 256 * 1024;

/** A failed request to an exchange, or an unexpected response. */
class FeedFailure extends Error {
  override name = "FeedFailure";
}

/** `GET` of a small JSON document: one try, no redirects, bounded in time and size. Throws `FeedFailure`. */
async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await fetch(url, {
      redirect: "error",
      headers: { accept: "application/json", "user-agent": "order-book-of-record" },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new FeedFailure(`HTTP ${response.status}`);
    }
    return JSON.parse(await readBounded(response));
  } catch (error) {
    throw error instanceof FeedFailure ? error : new FeedFailure(reasonOf(error));
  }
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new FeedFailure(`the response exceeds ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** fetch() wraps the cause of a failed connection. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
