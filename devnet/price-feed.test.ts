import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hourAt, type LocalPriceFeed, priceAt, startPriceFeed } from "./price-feed.ts";

const hour = 3_600_000;
const now = Date.parse("2026-03-10T12:34:56Z");

let feed: LocalPriceFeed;
beforeAll(async () => {
  feed = await startPriceFeed({ now: () => now });
});
afterAll(() => feed.stop());

/** The forms that the exchanges publish differ; each test knows what it looks at. */
async function get<Body = Record<string, unknown>>(path: string): Promise<Body> {
  const response = await fetch(`http://127.0.0.1:${feed.port}${path}`);
  return (await response.json()) as Body;
}

type Rows = [time: number | string, open: string][];

describe("the walk of prices", () => {
  it("is the same for the same moment, and moves little in a minute", () => {
    let previous = priceAt("ETH", now);
    expect(priceAt("ETH", now)).toBe(previous);
    for (let minute = 1; minute <= 60 * 24; minute += 1) {
      const price = priceAt("ETH", now + minute * 60_000);
      expect(Math.abs(price / previous - 1)).toBeLessThan(0.01);
      previous = price;
    }
  });

  it("stays near its anchor for years", () => {
    const days = Array.from({ length: 3 * 365 }, (_, day) => priceAt("ETH", now + day * 24 * hour));
    expect(Math.min(...days)).toBeGreaterThan(1_500);
    expect(Math.max(...days)).toBeLessThan(6_000);
  });

  it("moves within an hour, and differs between coins", () => {
    const { open, high, low, close } = hourAt("APE", Math.floor(now / hour) * hour);
    expect(high).toBeGreaterThan(low);
    for (const price of [open, close]) {
      expect(price).toBeLessThanOrEqual(high);
      expect(price).toBeGreaterThanOrEqual(low);
    }
    expect(priceAt("APE", now) / 0.6).not.toBeCloseTo(priceAt("ETH", now) / 3_000, 6);
  });
});

describe("the stand-in for exchanges", () => {
  it("names its exchanges as the setting does", () => {
    expect(feed.urls.split(",")).toHaveLength(4);
    expect(feed.urls).toContain(`coinbase=http://127.0.0.1:${feed.port}/coinbase`);
  });

  it("returns one price in the format of each exchange", async () => {
    const [coinbase, kraken, binance, okx] = await Promise.all([
      get<{ price: string }>("/coinbase/products/ETH-USD/ticker"),
      get<{ result: { XETHZUSD: { c: string[] } } }>("/kraken/0/public/Ticker?pair=ETHUSD"),
      get<{ price: string }>("/binance/api/v3/ticker/price?symbol=ETHUSDT"),
      get<{ data: { last: string }[] }>("/okx/api/v5/market/ticker?instId=ETH-USDT"),
    ]);
    const prices = [
      coinbase.price,
      kraken.result.XETHZUSD.c[0],
      Number(binance.price).toFixed(2),
      okx.data[0]?.last,
    ];
    expect(prices).toEqual(Array(4).fill(priceAt("ETH", now).toFixed(2)));
  });

  it("gives hours of history in the order and within the bounds of each", async () => {
    const last = Math.floor(now / hour) * hour;
    const first = last - 2 * hour;
    const [start, end] = [first, last].map((time) => new Date(time).toISOString());
    const [coinbase, kraken, binance, okx] = await Promise.all([
      get<Rows>(`/coinbase/products/APE-USD/candles?granularity=3600&start=${start}&end=${end}`),
      get<{ result: { APEUSD: Rows } }>(
        `/kraken/0/public/OHLC?pair=APEUSD&interval=60&since=${first / 1000 - 1}`,
      ),
      get<Rows>(
        `/binance/api/v3/klines?symbol=APEUSDT&interval=1h&startTime=${first}&endTime=${last}`,
      ),
      get<{ data: Rows }>(
        `/okx/api/v5/market/history-candles?instId=APE-USDT&bar=1H&after=${last + 1}&before=${first - 1}`,
      ),
    ]);
    const hours = [first, first + hour, last];
    const times = (rows: Rows) => rows.map(([time]) => Number(time));
    expect(times(binance)).toEqual(hours);
    expect(times(okx.data)).toEqual(hours.toReversed());
    expect(times(coinbase)).toEqual(hours.map((time) => time / 1000).toReversed());
    expect(times(kraken.result.APEUSD)).toEqual(hours.map((time) => time / 1000));
    expect(binance[0]?.[1]).toBe(priceAt("APE", first).toFixed(6));
  });

  it.each(["/", "/mtgox/ticker", "/coinbase/products/BTC-USD/ticker", "/binance/api/v3/time"])(
    "has nothing at %s but a refusal",
    async (path) => {
      expect(await get(path)).not.toHaveProperty("price");
    },
  );
});
