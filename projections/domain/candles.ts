/** What a value did in a span of time, in whole units of what it is counted in; `start` in unix milliseconds. */
export type Candle = { start: number; open: bigint; high: bigint; low: bigint; close: bigint };

export type CandleSummary = {
  first: bigint;
  last: bigint;
  high: bigint;
  low: bigint;
  change: bigint;
  /** Of `first`, rounded to four decimals; null where `first` is zero. */
  changePercent: number | null;
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Milliseconds of each interval that candles are asked for in. */
export const intervalMs = { "1h": hourMs, "4h": 4 * hourMs, "1d": dayMs } as const;

export type CandleInterval = keyof typeof intervalMs;

/** A value seen at one moment. */
export function candleAt(timeMs: number, value: bigint): Candle {
  return { start: timeMs, open: value, high: value, low: value, close: value };
}

/** Start of the bucket that holds a moment. Buckets are aligned to the epoch, so those that divide a day to UTC days. */
export function bucketStart(timeMs: number, lengthMs: number): number {
  return Math.floor(timeMs / lengthMs) * lengthMs;
}

/** Start of the bucket that holds the moment so many days ago: a window's first bucket is whole. */
export function windowStart(nowMs: number, days: number, lengthMs: number): number {
  return bucketStart(nowMs - days * dayMs, lengthMs);
}

/**
 * Candles of longer buckets from shorter candles or from values seen, which come in the order of time.
 * A bucket in which nothing was seen has none.
 */
export function mergeCandles(candles: Iterable<Candle>, lengthMs: number): Candle[] {
  const merged: Candle[] = [];
  for (const candle of candles) {
    const start = bucketStart(candle.start, lengthMs);
    const last = merged.at(-1);
    if (last?.start === start) add(last, candle);
    else merged.push({ ...candle, start });
  }
  return merged;
}

function add(into: Candle, { high, low, close }: Candle): void {
  if (high > into.high) into.high = high;
  if (low < into.low) into.low = low;
  into.close = close;
}

/** What happened over all of the candles; null when there are none. */
export function summarizeCandles(candles: readonly Candle[]): CandleSummary | null {
  const [earliest, ...later] = candles;
  if (earliest === undefined) return null;
  const whole = { ...earliest };
  for (const candle of later) add(whole, candle);
  const { open: first, close: last, high, low } = whole;
  const change = last - first;
  return { first, last, high, low, change, changePercent: percentOf(change, first) };
}

const percentScale = 10_000n;

/** Rounded half away from zero, without a float on the way. */
function percentOf(part: bigint, whole: bigint): number | null {
  if (whole === 0n) return null;
  const doubled = (part * 2n * 100n * percentScale) / whole;
  const rounded = (doubled + (doubled < 0n ? -1n : 1n)) / 2n;
  return Number(rounded) / Number(percentScale);
}
