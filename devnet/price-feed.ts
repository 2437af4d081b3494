import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CoinSymbol, coinSymbols } from "../chains/coins.ts";

export type LocalPriceFeed = {
  port: number;
  /** The exchanges with their addresses, in the form of the setting that names them. */
  urls: string;
  stop(): Promise<void>;
};

/** Stands in for exchanges: tickers and hourly history of prices that nobody paid. `port` 0 is any free one. */
export async function startPriceFeed({ port = 0, now = Date.now } = {}): Promise<LocalPriceFeed> {
  const server = createServer((request, response) => {
    request.resume();
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://localhost");
    const [, name = "", path = ""] = /^\/(\w+)(\/.*)$/.exec(pathname) ?? [];
    const exchange = Object.hasOwn(localExchanges, name) ? localExchanges[name] : undefined;
    const answer = exchange?.({ path, query, nowMs: now() });
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { message: "NotFound" }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  const names = Object.keys(localExchanges);
  return {
    port: bound,
    urls: names.map((name) => `${name}=http://127.0.0.1:${bound}/${name}`).join(","),
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A `GET`: the path below the exchange's own, and its query. */
type PriceRequest = { path: string; query: URLSearchParams; nowMs: number };

/** What an exchange answers, in the form it publishes; undefined: it has no such path. */
type Exchange = (request: PriceRequest) => unknown;

const hourMs = 3_600_000;
const volume = "1234.56780000";
const inUsd = (price: number): string => price.toFixed(price < 10 ? 6 : 2);

function symbolOf(pair: string | null | undefined): Ticker | undefined {
  return coinSymbols.find((symbol) => new RegExp(`^${symbol}-?USDT?$`).test(pair ?? ""));
}

/** Hours that have begun, of a range, oldest first; at most so many, the latest of them. */
function hoursOf(symbol: Ticker, fromMs: number, toMs: number, most: number): HourCandle[] {
  const last = Math.floor(toMs / hourMs);
  const first = Math.max(Math.ceil(fromMs / hourMs), last - most + 1);
  const count = Math.max(last - first + 1, 0);
  return Array.from({ length: count }, (_, index) => hourAt(symbol, (first + index) * hourMs));
}

const coinbase: Exchange = ({ path, query, nowMs }) => {
  const [, pair, what] = /^\/products\/([\w-]+)\/(ticker|candles)$/.exec(path) ?? [];
  const symbol = symbolOf(pair);
  if (symbol === undefined) return undefined;
  if (what === "ticker") {
    const price = inUsd(priceAt(symbol, nowMs));
    const time = new Date(nowMs).toISOString();
    return { ask: price, bid: price, volume, trade_id: 1, price, size: "0.1", time };
  }
  const [from, to] = [query.get("start"), query.get("end")].map((time) => Date.parse(time ?? ""));
  return hoursOf(symbol, from ?? 0, Math.min(to ?? nowMs, nowMs), 300)
    .map((hour) => [hour.hourMs / 1000, hour.low, hour.high, hour.open, hour.close, 1234.5678])
    .reverse();
};

const kraken: Exchange = ({ path, query, nowMs }) => {
  const symbol = symbolOf(query.get("pair"));
  if (symbol === undefined) return { error: ["EQuery:Unknown asset pair"] };
  const pair = symbol === "ETH" ? "XETHZUSD" : "APEUSD";
  if (path === "/0/public/Ticker") {
    const price = inUsd(priceAt(symbol, nowMs));
    const quote = [price, "1", "1.000"];
    const both = [price, price];
    return {
      error: [],
      result: {
        [pair]: {
          a: quote,
          b: quote,
          c: [price, "0.1"],
          v: [volume, volume],
          p: both,
          l: both,
          h: both,
          o: price,
        },
      },
    };
  }
  if (path !== "/0/public/OHLC") return undefined;
  const hours = hoursOf(symbol, Number(query.get("since")) * 1000 + 1, nowMs, 720);
  const rows = hours.map((hour) => [
    hour.hourMs / 1000,
    ...pricesOf(hour),
    inUsd(hour.open),
    volume,
    7,
  ]);
  return { error: [], result: { [pair]: rows, last: (hours.at(-1)?.hourMs ?? 0) / 1000 } };
};

const binance: Exchange = ({ path, query, nowMs }) => {
  const symbol = symbolOf(query.get("symbol"));
  if (symbol === undefined) return { code: -1121, msg: "Invalid symbol." };
  if (path === "/api/v3/ticker/price") {
    return { symbol: query.get("symbol"), price: priceAt(symbol, nowMs).toFixed(8) };
  }
  if (path !== "/api/v3/klines") return undefined;
  const [from, to] = [Number(query.get("startTime")), Number(query.get("endTime"))];
  return hoursOf(symbol, from, Math.min(to, nowMs), 1_000).map((hour) => [
    hour.hourMs,
    ...pricesOf(hour),
    volume,
    hour.hourMs + hourMs - 1,
    volume,
    100,
    volume,
    volume,
    "0",
  ]);
};

const okx: Exchange = ({ path, query, nowMs }) => {
  const symbol = symbolOf(query.get("instId"));
  if (symbol === undefined) return { code: "51001", msg: "Instrument ID does not exist", data: [] };
  const envelope = { code: "0", msg: "" };
  if (path === "/api/v5/market/ticker") {
    const last = inUsd(priceAt(symbol, nowMs));
    const ticker = {
      instType: "SPOT",
      instId: query.get("instId"),
      last,
      askPx: last,
      bidPx: last,
    };
    return { ...envelope, data: [{ ...ticker, ts: `${nowMs}` }] };
  }
  if (path !== "/api/v5/market/history-candles") return undefined;
  const [after, before] = [Number(query.get("after")), Number(query.get("before"))];
  const hours = hoursOf(symbol, before + 1, Math.min(after - 1, nowMs), 100);
  const rows = hours.map((hour) => [
    `${hour.hourMs}`,
    ...pricesOf(hour),
    volume,
    volume,
    volume,
    "1",
  ]);
  return { ...envelope, data: rows.reverse() };
};

function pricesOf({ open, high, low, close }: HourCandle): string[] {
  return [open, high, low, close].map(inUsd);
}

/** The exchanges that are stood in for, by the names of the setting. */
export const localExchanges: Readonly<Record<string, Exchange>> = {
  coinbase,
  kraken,
  binance,
  okx,
};

/** Coins by the symbol exchanges trade them under, and what they are worth in USD about. */
const anchors: Record<CoinSymbol, number> = { ETH: 3_000, APE: 0.6 };
type Ticker = CoinSymbol;

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

type HourCandle = { hourMs: number; open: number; high: number; low: number; close: number };

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
