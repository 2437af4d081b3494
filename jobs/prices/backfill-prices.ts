import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { type Coin, coins } from "#chains/coins.ts";
import { bucketStart, intervalMs } from "#projections/domain/candles.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { type PriceTick, priceTicked } from "#projections/prices/coin-prices.ts";
import {
  priceHistoryDays,
  readFirstSaleAt,
  readRecordedMinutes,
} from "#projections/prices/read-prices.ts";
import { backOffMs } from "../runner/back-off.ts";
import type { Job } from "../runner/job.ts";
import type { PriceFeed } from "./exchanges.ts";
import { fetchHours, type PricedHours } from "./fetch-prices.ts";
import { agreeOnPrice } from "./price.ts";

const anHourMs = 60 * 60_000;
/** Between two passes: hours that were missed while the exchanges failed are filled later. */
const passEveryMs = 24 * anHourMs;
/** After a pass with failing exchanges. */
const retry = { firstMs: 60_000, mostMs: anHourMs };
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
      return failures === 0 ? passEveryMs : backOffMs(failures, retry);
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
    return at === null ? 0 : Math.ceil((Date.now() - at.getTime()) / (24 * anHourMs)) + 1;
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

/** Hours per request, supported by every exchange. */
const hoursPerRequest = 100;
/** Older ones end where no exchange has any. */
const usualDays = priceHistoryDays + 1;
/** Wait between two requests, for the exchanges' rate limits. */
const usualPauseMs = 250;
const hourMs = intervalMs["1h"];

type Backfill = {
  db: Database;
  feeds: readonly PriceFeed[];
  coin: Coin;
  days: number;
  now: Date;
  signal: AbortSignal;
  pauseMs?: number;
  onProgress?: (progress: BackfillProgress) => void;
};

/** Full hours of the range; `failures`: messages of exchanges without prices. */
export type BackfillProgress = {
  hours: number;
  /** Already in the log. */
  held: number;
  appended: number;
  /** Too few exchanges agree on them; a later backfill tries again. */
  missing: number;
  failures: string[];
};

/**
 * Appends the price at every full hour of the last days that has none, newest first. Skips hours in the log, so an
 * interrupted backfill resumes.
 */
export async function backfillPrices(options: Backfill): Promise<BackfillProgress> {
  const { db, coin, days, now, signal, onProgress, pauseMs = usualPauseMs } = options;
  signal.throwIfAborted();
  const lastMs = bucketStart(now.getTime(), hourMs);
  const hours = Array.from(
    { length: days * 24 + 1 },
    (_, back) => lastMs - back * hourMs,
  ).reverse();
  const held = await readRecordedMinutes(db, coin, hours);
  const lacking = hours.filter((hour) => !held.has(hour));
  const progress = { hours: hours.length, held: held.size, appended: 0, missing: 0 };
  const failures = new Set<string>();
  for (const range of splitIntoRanges(lacking)) {
    signal.throwIfAborted();
    const { found, failures: wrong } = await fetchHours(
      options.feeds,
      coin,
      { range: rangeOf(range), now },
      signal,
    );
    for (const words of wrong) failures.add(words);
    const ticks = range.flatMap((minuteMs) => toPriceTick(coin, minuteMs, found) ?? []);
    if (ticks.length > 0) {
      progress.appended += (await appendObservations(db, ticks.map(priceTicked))).appended;
    }
    progress.missing += range.length - ticks.length;
    onProgress?.({ ...progress, failures: [...failures] });
    const isBeyond = rangeOf(range).toMs < lastMs - usualDays * 24 * hourMs;
    if (isBeyond && ticks.length === 0 && wrong.length === 0) break;
    await delay(pauseMs, undefined, { signal });
  }
  return { ...progress, failures: [...failures] };
}

/** Groups of ascending hours that fit into one request, the newest first. */
function splitIntoRanges(hours: readonly number[]): number[][] {
  const ranges: number[][] = [];
  for (const hour of hours.toReversed()) {
    const range = ranges.at(-1);
    const last = range?.at(-1);
    if (last !== undefined && last - hour < hoursPerRequest * hourMs) range?.unshift(hour);
    else ranges.push([hour]);
  }
  return ranges;
}

function rangeOf(range: readonly number[]) {
  const [fromMs = 0] = range;
  return { fromMs, toMs: range.at(-1) ?? fromMs };
}

function toPriceTick(
  coin: Coin,
  minuteMs: number,
  found: readonly PricedHours[],
): PriceTick | null {
  const quotes = found.flatMap(({ name, hours }) => {
    const priceE8 = hours.get(minuteMs);
    return priceE8 === undefined ? [] : [{ name, priceE8 }];
  });
  const agreed = agreeOnPrice(quotes);
  return agreed && { coin, minuteMs, ...agreed, interval: "1h" };
}
