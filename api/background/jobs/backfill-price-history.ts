import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { priceHistoryDays } from "../../../projections/domain/price-history.ts";
import { type Coin, coins } from "../../../projections/facts/price-ticked.ts";
import { sleep } from "../log-signal/back-off.ts";
import { type BackfillProgress, backfillPrices } from "../prices/backfill-prices.ts";
import type { PriceFeed } from "../prices/feeds.ts";

const hourMs = 60 * 60_000;
/** Between two passes: hours that were missed while the exchanges failed are filled later. */
const passEveryMs = 24 * hourMs;
/** After a pass with failing exchanges; doubled each time, up to an hour. */
const retryMs = 60_000;
const reportEveryMs = 10_000;

type HistoryOptions = {
  db: Database;
  feeds: readonly PriceFeed[];
  pauseMs?: number;
  historyDays?: number;
  logger: Logger;
  signal: AbortSignal;
};

/**
 * Appends the hourly prices of the last year that are missing, newest first. What is recorded is not fetched again, so a
 * restart resumes. Repeats daily, and sooner while exchanges fail.
 */
export async function runPriceHistory(options: HistoryOptions): Promise<void> {
  const { feeds, signal } = options;
  if (feeds.length === 0) return;
  let failures = 0;
  while (!signal.aborted) {
    const complete: boolean[] = [];
    for (const coin of coins) complete.push(await fillHistory(options, coin));
    failures = complete.every(Boolean) ? 0 : failures + 1;
    const retryInMs = Math.min(retryMs * 2 ** (failures - 1), hourMs);
    await sleep(failures === 0 ? passEveryMs : retryInMs, signal);
  }
}

/** Whether nothing is left that a later pass may find: missing hours that no exchange failed on stay missing. */
async function fillHistory(options: HistoryOptions, coin: Coin): Promise<boolean> {
  const { logger, signal, historyDays: days = priceHistoryDays } = options;
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

function reportProgress(logger: Logger, coin: Coin) {
  let reportedAt = Date.now();
  return ({ hours, held, appended, missing }: BackfillProgress) => {
    if (Date.now() - reportedAt < reportEveryMs) return;
    reportedAt = Date.now();
    logger.info({ coin, hours, recorded: held + appended, missing }, "fetching price history");
  };
}
