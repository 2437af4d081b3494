import { coinSymbols } from "../chains/coins.ts";
import { type HourCandle, hourAt, priceAt, type Ticker } from "./price-feed-walk.ts";

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
export const exchanges: Readonly<Record<string, Exchange>> = { coinbase, kraken, binance, okx };
