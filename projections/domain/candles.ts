/** Open, high, low and close of a value in a bucket of time, in its smallest unit; `start` in unix milliseconds. */
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

/** Milliseconds of each candle interval. */
export const intervalMs = { "1h": hourMs, "4h": 4 * hourMs, "1d": dayMs } as const;

export type CandleInterval = keyof typeof intervalMs;

/** The candle of a single value. */
export function candleAt(timeMs: number, value: bigint): Candle {
  return { start: timeMs, open: value, high: value, low: value, close: value };
}

/** Start of the bucket that contains a time. Buckets are aligned to the epoch, and so to UTC days where they divide one. */
export function bucketStart(timeMs: number, lengthMs: number): number {
  return Math.floor(timeMs / lengthMs) * lengthMs;
}

/** Start of the bucket that contains the time `days` ago, so that the first bucket is complete. */
export function windowStart(nowMs: number, days: number, lengthMs: number): number {
  return bucketStart(nowMs - days * dayMs, lengthMs);
}

/**
 * Merges candles, in time order, into longer buckets. A bucket without values has no candle.
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

/** Summary over all candles; null when there are none. */
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

/** Rounded half away from zero, in integer arithmetic. */
function percentOf(part: bigint, whole: bigint): number | null {
  if (whole === 0n) return null;
  const doubled = (part * 2n * 100n * percentScale) / whole;
  const rounded = (doubled + (doubled < 0n ? -1n : 1n)) / 2n;
  return Number(rounded) / Number(percentScale);
}
