import type { Logger } from "pino";
import { type Coin, coins } from "#chains/coins.ts";
import type { Database } from "#projections/log/database.ts";
import { priceHistoryDays, readFirstSaleAt } from "#projections/prices/read-prices.ts";
import type { Job } from "../log-signal/job.ts";
import { type BackfillProgress, backfillPrices } from "../prices/backfill-prices.ts";
import type { PriceFeed } from "../prices/feeds.ts";

const hourMs = 60 * 60_000;
/** Between two passes: hours that were missed while the exchanges failed are filled later. */
const passEveryMs = 24 * hourMs;
/** After a pass with failing exchanges; doubled each time, up to an hour. */
const retryMs = 60_000;
const reportEveryMs = 10_000;
/** Of every coin first, in one request each, then what periods of figures need: their sales are on the first pages. */
const newestDays = [4, 31];

type HistoryOptions = {
  db: Database;
  feeds: readonly PriceFeed[];
  pauseMs?: number;
  historyDays?: number;
  logger: Logger;
};
type HistoryPass = HistoryOptions & { signal: AbortSignal };

/**
 * Appends the hourly prices that are missing, the newest of both coins first: of the last year, and back to the first sale
 * as far as exchanges have them. What is recorded is not fetched again, so a restart resumes. Repeats daily, and sooner
 * while exchanges fail.
 */
export function priceHistory(options: HistoryOptions): Job {
  let failures = 0;
  return {
    name: "price history",
    async run(signal) {
      if (options.feeds.length === 0) return "ended";
      failures = (await fillPass({ ...options, signal })) ? 0 : failures + 1;
      return failures === 0 ? passEveryMs : Math.min(retryMs * 2 ** (failures - 1), hourMs);
    },
  };
}

/** Whether nothing is left of any coin. */
async function fillPass(options: HistoryPass): Promise<boolean> {
  const { historyDays = priceHistoryDays + 1 } = options;
  for (const days of newestDays.filter((days) => days < historyDays)) {
    for (const coin of coins) await fillHistory(options, coin, days);
  }
  const complete: boolean[] = [];
  for (const coin of coins) {
    const firstSale = await daysSinceFirstSale(options, coin);
    complete.push(await fillHistory(options, coin, Math.max(historyDays, firstSale)));
  }
  return complete.every(Boolean);
}

/** Whether nothing is left that a later pass may find: missing hours that no exchange failed on stay missing. */
async function fillHistory(options: HistoryPass, coin: Coin, days: number): Promise<boolean> {
  const { logger, signal } = options;
  try {
    const work = { ...options, coin, days, now: new Date() };
    const done = await backfillPrices({ ...work, onProgress: reportProgress(logger, coin) });
    const { appended, missing, failures } = done;
    if (appended > 0) logger.info({ coin, appended, missing }, "price history recorded");
    return missing === 0 || failures.length === 0;
  } catch (error) {
    if (!signal.aborted) logger.warn({ err: error, coin }, "price history failed, retrying");
    return false;
  }
}

/** 0: there is none, or it cannot be read at present. */
async function daysSinceFirstSale({ db, logger }: HistoryOptions, coin: Coin): Promise<number> {
  try {
    const at = await readFirstSaleAt(db, coin);
    return at === null ? 0 : Math.ceil((Date.now() - at.getTime()) / (24 * hourMs)) + 1;
  } catch (error) {
    logger.warn({ err: error, coin }, "first sale unknown, history of a year");
    return 0;
  }
}

function reportProgress(logger: Logger, coin: Coin) {
  let reportedAt = Date.now();
  return ({ hours, held, appended, missing }: BackfillProgress) => {
    if (Date.now() - reportedAt < reportEveryMs) return;
    reportedAt = Date.now();
    logger.info({ coin, hours, recorded: held + appended, missing }, "fetching price history");
  };
}
