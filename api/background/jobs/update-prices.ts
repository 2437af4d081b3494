import type { Logger } from "pino";
import { type Coin, coins } from "#chains/coins.ts";
import type { Database } from "#projections/log/database.ts";
import { bucketStart } from "#projections/domain/candles.ts";
import { type PriceTick, priceTicked } from "#projections/prices/coin-prices.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import type { Job } from "../log-signal/job.ts";
import { fetchChainlinkPrice } from "../prices/chainlink.ts";
import type { PriceFeed } from "../prices/feeds.ts";
import { fetchTickers } from "../prices/fetch-prices.ts";
import { agreeOnPrice } from "../prices/median.ts";
import { priceHistory } from "./backfill-price-history.ts";

const minuteMs = 60_000;

type PriceOptions = {
  db: Database;
  feeds: readonly PriceFeed[];
  /** Ethereum's client, if served: Chainlink is read while the exchanges disagree. */
  ethereum: ChainClient | undefined;
  logger: Logger;
  /** Overrides of the wait between two requests for history, and of its length. */
  pauseMs?: number;
  historyDays?: number;
};

type PriceTurn = PriceOptions & { signal: AbortSignal };

type PriceOrigin = "exchanges" | "chainlink" | "none";

/**
 * Appends each coin's price once a minute, and beside it the hourly prices of the last year that are missing. A minute
 * without agreement has no price.
 */
export function priceUpdates(options: PriceOptions): Job[] {
  return [priceHistory(options), minutePrices(options)];
}

function minutePrices(options: PriceOptions): Job {
  const { logger } = options;
  const origins = new Map<Coin, PriceOrigin>();
  return {
    name: "coin prices",
    async run(signal) {
      const minute = bucketStart(Date.now(), minuteMs);
      await tickPrices({ ...options, signal }, minute, (coin, origin, failures) => {
        if (signal.aborted) return;
        const before = origins.get(coin);
        origins.set(coin, origin);
        if (before !== origin) logOrigin(logger, coin, origin, before, failures);
      });
      // One millisecond after the minute: timers may fire early.
      return Math.max(minute + minuteMs - Date.now() + 1, 0);
    },
  };
}

type OnOrigin = (coin: Coin, origin: PriceOrigin, failures: readonly string[]) => void;

/** Fetches every coin's price once and appends it as the price of a minute. */
export async function tickPrices(
  options: PriceTurn,
  minute: number,
  onOrigin: OnOrigin,
): Promise<void> {
  const ticks = await Promise.all(coins.map((coin) => fetchPrice(options, coin, minute, onOrigin)));
  const found = ticks.filter((tick) => tick !== null);
  if (found.length > 0) await appendObservations(options.db, found.map(priceTicked));
}

async function fetchPrice(
  options: PriceTurn,
  coin: Coin,
  minute: number,
  onOrigin: OnOrigin,
): Promise<PriceTick | null> {
  const { found, failures } = await fetchTickers(options.feeds, coin, options.signal);
  const agreed = agreeOnPrice(found);
  if (agreed !== null) {
    onOrigin(coin, "exchanges", failures);
    return { coin, minuteMs: minute, ...agreed };
  }
  // Exchanges that a stop has cut off do not disagree.
  if (options.signal.aborted) return null;
  const fallback = await fetchFromChainlink(options, coin, failures);
  onOrigin(coin, fallback === null ? "none" : "chainlink", failures);
  return fallback && { coin, minuteMs: minute, priceE8: fallback.priceE8, sources: [fallback] };
}

async function fetchFromChainlink({ ethereum }: PriceOptions, coin: Coin, failures: string[]) {
  if (ethereum === undefined) return null;
  try {
    return await fetchChainlinkPrice(ethereum, coin, new Date());
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    failures.push(error.message);
    return null;
  }
}

/** Logs only changes. */
function logOrigin(
  logger: Logger,
  coin: Coin,
  origin: PriceOrigin,
  before: PriceOrigin | undefined,
  failures: readonly string[],
): void {
  if (origin === "exchanges") {
    if (before !== undefined) logger.info({ coin }, "exchanges agree on price again");
    return;
  }
  logger.warn({ coin, fallback: origin, failures }, "exchanges disagree on price");
}
