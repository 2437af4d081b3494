import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { bucketStart } from "../../../projections/domain/candles.ts";
import {
  type Coin,
  coins,
  type PriceTick,
  priceTicked,
} from "../../../projections/facts/price-ticked.ts";
import { appendObservations } from "../../../projections/log/append.ts";
import type { ChainClient } from "../chain/clients.ts";
import { RpcFailure } from "../chain/rpc-batch.ts";
import { fetchTickers } from "../prices/ask-exchanges.ts";
import { backfillPrices } from "../prices/backfill-prices.ts";
import { readChainlink } from "../prices/chainlink.ts";
import type { PriceFeed } from "../prices/feeds.ts";
import { agreeOnPrice } from "../prices/median.ts";

const minuteMs = 60_000;
/** Hours of this many days that lack a price are asked for when the work begins. */
const recentDays = 7;

type Work = {
  db: Database;
  feeds: readonly PriceFeed[];
  /** Ethereum, where it is served: asked while the exchanges do not agree. */
  ethereum: ChainClient | undefined;
  logger: Logger;
  signal: AbortSignal;
};

type Origin = "exchanges" | "chainlink" | "nobody";

/** Tells the log what each coin is worth, once a minute; a minute in which nobody can be believed stays without. */
export async function keepPrices(work: Work): Promise<void> {
  await Promise.all([fillRecent(work), keepTicking(work)]);
}

async function keepTicking(work: Work): Promise<void> {
  const { logger, signal } = work;
  const origins = new Map<Coin, Origin>();
  while (!signal.aborted) {
    const minute = bucketStart(Date.now(), minuteMs);
    try {
      await tickPrices(work, minute, (coin, origin, failures) => {
        if (signal.aborted) return;
        const before = origins.get(coin);
        origins.set(coin, origin);
        if (before !== origin) tellOrigin(logger, coin, origin, before, failures);
      });
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, "prices are not recorded, trying again");
    }
    // Past the minute, not just before it: timers may fire early.
    const waitMs = minute + minuteMs - Date.now() + 1;
    await delay(Math.max(waitMs, 0), undefined, { signal }).catch(() => undefined);
  }
}

type OnOrigin = (coin: Coin, origin: Origin, failures: readonly string[]) => void;

/** One look at every coin's price, appended as the price of a minute. */
export async function tickPrices(work: Work, minute: number, onOrigin: OnOrigin): Promise<void> {
  const ticks = await Promise.all(coins.map((coin) => tickOf(work, coin, minute, onOrigin)));
  const told = ticks.filter((tick) => tick !== null);
  if (told.length > 0) await appendObservations(work.db, told.map(priceTicked));
}

async function tickOf(
  work: Work,
  coin: Coin,
  minute: number,
  onOrigin: OnOrigin,
): Promise<PriceTick | null> {
  const { found, failures } = await fetchTickers(work.feeds, coin, work.signal);
  const agreed = agreeOnPrice(found);
  if (agreed !== null) {
    onOrigin(coin, "exchanges", failures);
    return { coin, minuteMs: minute, ...agreed };
  }
  const fallback = await askChainlink(work, coin, failures);
  onOrigin(coin, fallback === null ? "nobody" : "chainlink", failures);
  return fallback && { coin, minuteMs: minute, priceE8: fallback.priceE8, sources: [fallback] };
}

async function askChainlink({ ethereum }: Work, coin: Coin, failures: string[]) {
  if (ethereum === undefined) return null;
  try {
    return await readChainlink(ethereum, coin, new Date());
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    failures.push(error.message);
    return null;
  }
}

/** Said when it changes, not every minute. */
function tellOrigin(
  logger: Logger,
  coin: Coin,
  origin: Origin,
  before: Origin | undefined,
  failures: readonly string[],
): void {
  if (origin === "exchanges") {
    if (before !== undefined) logger.info(`the exchanges agree on ${coin} again`);
    return;
  }
  const instead = origin === "chainlink" ? "Chainlink is believed" : "it has no price";
  logger.warn({ failures }, `the exchanges do not agree on ${coin}: ${instead} meanwhile`);
}

async function fillRecent({ db, feeds, logger, signal }: Work): Promise<void> {
  for (const coin of coins) {
    try {
      const { appended } = await backfillPrices({
        db,
        feeds,
        coin,
        days: recentDays,
        now: new Date(),
        signal,
      });
      if (appended > 0) logger.info(`${appended} hourly prices of ${coin} are recorded`);
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, `hourly prices of ${coin} are not recorded`);
    }
  }
}
