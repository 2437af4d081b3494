import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "../../../projections/database.ts";
import { bucketStart, intervalMs } from "../../../projections/domain/candles.ts";
import { type Coin, type PriceTick, priceTicked } from "../../../projections/facts/price-ticked.ts";
import { appendObservations } from "../../../projections/log/append.ts";
import { readRecordedMinutes } from "../../../projections/reads/coin-prices/read-recorded-minutes.ts";
import { fetchHours, type PricedHours } from "./fetch-prices.ts";
import type { PriceFeed } from "./feeds.ts";
import { agreeOnPrice } from "./median.ts";

/** Hours asked for at once: every exchange gives as many in one answer. */
const hoursAtOnce = 100;
/** Between two requests to an exchange, which count them by the second. */
const pauseMs = 250;
const hourMs = intervalMs["1h"];

type Backfill = {
  db: Database;
  feeds: readonly PriceFeed[];
  coin: Coin;
  days: number;
  now: Date;
  signal: AbortSignal;
  onProgress?: (progress: BackfillProgress) => void;
};

/** Full hours of the range; `failures`: exchanges that gave nothing, in words. */
export type BackfillProgress = {
  hours: number;
  /** The log had them before. */
  held: number;
  appended: number;
  /** Too few exchanges agree on them; they may be asked for again. */
  missing: number;
  failures: string[];
};

/**
 * Appends the price at every full hour of the last days that has none, piece by piece from the oldest on. Asks for
 * nothing that the log holds, so what was cut off is taken up where it stood.
 */
export async function backfillPrices(options: Backfill): Promise<BackfillProgress> {
  const { db, coin, days, now, signal, onProgress } = options;
  const lastMs = bucketStart(now.getTime(), hourMs);
  const hours = Array.from(
    { length: days * 24 + 1 },
    (_, back) => lastMs - back * hourMs,
  ).reverse();
  const held = await readRecordedMinutes(db, coin, hours);
  const lacking = hours.filter((hour) => !held.has(hour));
  const progress = { hours: hours.length, held: held.size, appended: 0, missing: 0 };
  const failures = new Set<string>();
  for (const piece of piecesOf(lacking)) {
    signal.throwIfAborted();
    const { found, failures: wrong } = await fetchHours(
      options.feeds,
      coin,
      { range: rangeOf(piece), now },
      signal,
    );
    for (const words of wrong) failures.add(words);
    const ticks = piece.flatMap((minuteMs) => tickOf(coin, minuteMs, found) ?? []);
    if (ticks.length > 0) {
      progress.appended += (await appendObservations(db, ticks.map(priceTicked))).appended;
    }
    progress.missing += piece.length - ticks.length;
    onProgress?.({ ...progress, failures: [...failures] });
    await delay(pauseMs, undefined, { signal });
  }
  return { ...progress, failures: [...failures] };
}

/** Hours that lie within what is asked for at once. */
function piecesOf(hours: readonly number[]): number[][] {
  const pieces: number[][] = [];
  for (const hour of hours) {
    const piece = pieces.at(-1);
    const [first] = piece ?? [];
    if (first !== undefined && hour - first < hoursAtOnce * hourMs) piece?.push(hour);
    else pieces.push([hour]);
  }
  return pieces;
}

function rangeOf(piece: readonly number[]) {
  const [fromMs = 0] = piece;
  return { fromMs, toMs: piece.at(-1) ?? fromMs };
}

function tickOf(coin: Coin, minuteMs: number, found: readonly PricedHours[]): PriceTick | null {
  const quotes = found.flatMap(({ name, hours }) => {
    const priceE8 = hours.get(minuteMs);
    return priceE8 === undefined ? [] : [{ name, priceE8 }];
  });
  const agreed = agreeOnPrice(quotes);
  return agreed && { coin, minuteMs, ...agreed, interval: "1h" };
}
