import { setTimeout as delay } from "node:timers/promises";
import type { Coin } from "#chains/coins.ts";
import type { Database } from "#projections/log/database.ts";
import { bucketStart, intervalMs } from "#projections/domain/candles.ts";
import { priceHistoryDays, readRecordedMinutes } from "#projections/prices/read-prices.ts";
import { type PriceTick, priceTicked } from "#projections/prices/coin-prices.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { PriceFeed } from "./feeds.ts";
import { fetchHours, type PricedHours } from "./fetch-prices.ts";
import { agreeOnPrice } from "./median.ts";

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
