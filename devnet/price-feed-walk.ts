import type { CoinSymbol } from "../chains/coins.ts";

/** Coins by the symbol exchanges trade them under, and what they are worth in USD about. */
const anchors: Record<CoinSymbol, number> = { ETH: 3_000, APE: 0.6 };
export type Ticker = CoinSymbol;

const seeds: Record<Ticker, number> = { ETH: 1_559, APE: 8_363 };
const minuteMs = 60_000;
/** Steps of one minute, two, four and so on, up to 45 days: each moves the price by √2 more than the one before. */
const scales = 17;
const minuteStep = 0.0004;

/**
 * The price of a coin at a moment: a walk that goes up and down on every scale and never strays far. It is a function
 * of the moment alone, so that history stays what it was after a restart.
 */
export function priceAt(symbol: Ticker, timeMs: number): number {
  let exponent = 0;
  for (let scale = 0; scale < scales; scale += 1) {
    exponent += minuteStep * 2 ** (scale / 2) * slopeAt(seeds[symbol], scale, timeMs / minuteMs);
  }
  return anchors[symbol] * Math.exp(exponent);
}

/** Between two random values of −1 to 1 that stand 2^scale minutes apart. */
function slopeAt(seed: number, scale: number, minutes: number): number {
  const place = minutes / 2 ** scale;
  const before = Math.floor(place);
  const share = place - before;
  return valueAt(seed, scale, before) * (1 - share) + valueAt(seed, scale, before + 1) * share;
}

/** The same for the same place, and unlike its neighbours'. */
function valueAt(seed: number, scale: number, place: number): number {
  let mixed = Math.imul(seed + scale * 7_919, 0x9e3779b1) ^ Math.imul(place, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 31 - 1;
}

export type HourCandle = { hourMs: number; open: number; high: number; low: number; close: number };

/** Hours of which somebody asked: each takes two thousand random values. */
const known = new Map<string, HourCandle>();

/** What the price did in an hour, looked at by the minute. */
export function hourAt(symbol: Ticker, hourMs: number): HourCandle {
  const key = `${symbol} ${hourMs}`;
  const hour = known.get(key) ?? makeHour(symbol, hourMs);
  known.set(key, hour);
  return hour;
}

function makeHour(symbol: Ticker, hourMs: number): HourCandle {
  const prices = Array.from({ length: 60 }, (_, minute) =>
    priceAt(symbol, hourMs + minute * minuteMs),
  );
  const [open = 0] = prices;
  const close = prices.at(-1) ?? open;
  return { hourMs, open, high: Math.max(...prices), low: Math.min(...prices), close };
}
