import { z } from "zod";
import { type Coin, currencies } from "#chains/coins.ts";

/** Supported exchanges and the base URLs of their public APIs. */
const exchangeUrls = {
  coinbase: "https://api.exchange.coinbase.com",
  kraken: "https://api.kraken.com",
  // The market data host; the main one blocks some countries.
  binance: "https://data-api.binance.vision",
  okx: "https://www.okx.com",
} as const;

export type ExchangeName = keyof typeof exchangeUrls;

export const exchangeNames = Object.keys(exchangeUrls) as ExchangeName[];

/** An exchange and the base URL of its API. */
export type PriceFeed = { name: ExchangeName; url: string };

export const publicFeeds: readonly PriceFeed[] = exchangeNames.map((name) => ({
  name,
  url: exchangeUrls[name],
}));

const isExchange = (name: string): name is ExchangeName => Object.hasOwn(exchangeUrls, name);

/** Parses `name=url`; undefined if invalid. */
export function parseFeed(text: string): PriceFeed | undefined {
  const [, name = "", address = ""] = /^(\w+)=(.+)$/.exec(text) ?? [];
  if (!isExchange(name) || !URL.canParse(address)) return undefined;
  const { protocol, search, hash } = new URL(address);
  const isBase = /^https?:$/.test(protocol) && search === "" && hash === "";
  return isBase ? { name, url: address.replace(/\/+$/, "") } : undefined;
}

/** Full hours, inclusive, in unix milliseconds; at most a hundred. */
export type HourRange = { fromMs: number; toMs: number };

/** An hour's opening price, as the exchange writes it. */
type HourOpen = { hourMs: number; price: string | number };

/** Requests and response parsers of an exchange. Parsers throw on an unexpected response. */
type Exchange = {
  tickerPath: (coin: Coin) => string;
  readTicker: (answer: unknown) => string;
  /** Hours that its history covers; absent: all. */
  historyHours?: number;
  hoursPath: (coin: Coin, range: HourRange) => string;
  readHours: (answer: unknown) => HourOpen[];
};

const hourSeconds = 3_600;
const price = z.string();

const CoinbaseTicker = z.object({ price });
/** Time, low, high, open, close, volume. */
const CoinbaseHours = z.array(
  z.tuple([z.number(), z.number(), z.number(), z.number()], z.unknown()),
);

const coinbase: Exchange = {
  tickerPath: (coin) => `/products/${currencies[coin].symbol}-USD/ticker`,
  readTicker: (answer) => CoinbaseTicker.parse(answer).price,
  hoursPath(coin, { fromMs, toMs }) {
    const [start, end] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
    return `/products/${currencies[coin].symbol}-USD/candles?granularity=${hourSeconds}&start=${start}&end=${end}`;
  },
  readHours: (answer) =>
    CoinbaseHours.parse(answer).map(([time, , , open]) => ({ hourMs: time * 1000, price: open })),
};

/** The pair's key in `result` is the exchange's own name for it. */
const KrakenTicker = z.object({
  error: z.array(z.string()).max(0),
  result: z.record(z.string(), z.object({ c: z.tuple([price], z.unknown()) })),
});
/** Time, open, high, low, close, and more. */
const KrakenHours = z.object({
  error: z.array(z.string()).max(0),
  result: z.record(
    z.string(),
    z.union([z.number(), z.array(z.tuple([z.number(), price], z.unknown()))]),
  ),
});

const kraken: Exchange = {
  tickerPath: (coin) => `/0/public/Ticker?pair=${currencies[coin].symbol}USD`,
  readTicker(answer) {
    const [pair] = Object.values(KrakenTicker.parse(answer).result);
    return price.parse(pair?.c[0]);
  },
  historyHours: 719,
  hoursPath: (coin, { fromMs }) =>
    `/0/public/OHLC?pair=${currencies[coin].symbol}USD&interval=60&since=${fromMs / 1000 - 1}`,
  readHours: (answer) =>
    Object.values(KrakenHours.parse(answer).result).flatMap((rows) =>
      typeof rows === "number"
        ? []
        : rows.map(([time, open]) => ({ hourMs: time * 1000, price: open })),
    ),
};

const BinanceTicker = z.object({ price });
/** Open time, open, high, low, close, and more. */
const BinanceHours = z.array(z.tuple([z.number(), price], z.unknown()));

const binance: Exchange = {
  tickerPath: (coin) => `/api/v3/ticker/price?symbol=${currencies[coin].symbol}USDT`,
  readTicker: (answer) => BinanceTicker.parse(answer).price,
  hoursPath: (coin, { fromMs, toMs }) =>
    `/api/v3/klines?symbol=${currencies[coin].symbol}USDT&interval=1h&startTime=${fromMs}&endTime=${toMs}&limit=100`,
  readHours: (answer) =>
    BinanceHours.parse(answer).map(([hourMs, open]) => ({ hourMs, price: open })),
};

const OkxTicker = z.object({
  code: z.literal("0"),
  data: z.tuple([z.object({ last: price })], z.unknown()),
});
/** Time, open, high, low, close, and more. */
const OkxHours = z.object({
  code: z.literal("0"),
  data: z.array(z.tuple([z.string().regex(/^\d{1,15}$/), price], z.unknown())),
});

const okx: Exchange = {
  tickerPath: (coin) => `/api/v5/market/ticker?instId=${currencies[coin].symbol}-USDT`,
  readTicker: (answer) => OkxTicker.parse(answer).data[0].last,
  // Returns candles earlier than `after` and later than `before`.
  hoursPath: (coin, { fromMs, toMs }) =>
    `/api/v5/market/history-candles?instId=${currencies[coin].symbol}-USDT&bar=1H&after=${toMs + 1}&before=${fromMs - 1}&limit=100`,
  readHours: (answer) =>
    OkxHours.parse(answer).data.map(([time, open]) => ({ hourMs: Number(time), price: open })),
};

export const priceExchanges: Readonly<Record<ExchangeName, Exchange>> = {
  coinbase,
  kraken,
  binance,
  okx,
};
