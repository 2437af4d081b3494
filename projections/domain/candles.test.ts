import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { parseUnits } from "viem";
import { describe, expect, it } from "vitest";
import {
  bucketStart,
  type Candle,
  candleAt,
  intervalMs,
  mergeCandles,
  summarizeCandles,
  windowStart,
} from "./candles.ts";

// biome-ignore lint/style/noProcessEnv: the environment sets where the data is
const folder = join(process.env.REAL_DATA_DIR ?? "../shared/realdata", "prices");

const minute = 60_000;
const hour = intervalMs["1h"];
const at = (text: string) => Date.parse(text);

/** Values seen, in the order of time. */
const seen = fc
  .array(fc.record({ time: fc.nat(40 * hour), value: fc.bigInt(1n, 10n ** 12n) }), {
    maxLength: 60,
  })
  .map((list) => list.toSorted((a, b) => a.time - b.time));
const length = fc.constantFrom(5 * minute, hour, 4 * hour, 24 * hour);

describe("candles of values seen", () => {
  it("have open, close, high and low of each bucket with a value, and no other bucket", () => {
    fc.assert(
      fc.property(seen, length, (list, lengthMs) => {
        const candles = mergeCandles(
          list.map(({ time, value }) => candleAt(time, value)),
          lengthMs,
        );
        const expected = [...new Set(list.map(({ time }) => time - (time % lengthMs)))].map(
          (start) => {
            const values = list
              .filter(({ time }) => time >= start && time < start + lengthMs)
              .map(({ value }) => value);
            const sorted = values.toSorted((a, b) => (a < b ? -1 : 1));
            return {
              start,
              open: values.at(0),
              high: sorted.at(-1),
              low: sorted.at(0),
              close: values.at(-1),
            };
          },
        );
        expect(candles).toEqual(expected);
      }),
    );
  });

  it("are the same when they are merged from shorter candles", () => {
    fc.assert(
      fc.property(seen, (list) => {
        const values = list.map(({ time, value }) => candleAt(time, value));
        const hours = mergeCandles(values, hour);
        for (const lengthMs of [4 * hour, 24 * hour]) {
          expect(mergeCandles(hours, lengthMs)).toEqual(mergeCandles(values, lengthMs));
        }
      }),
    );
  });

  it("begin a bucket at its first millisecond and end it before the next one's", () => {
    const edge = at("2026-03-10T12:00:00.000Z");
    const candles = mergeCandles(
      [candleAt(edge - 1, 1n), candleAt(edge, 2n), candleAt(edge + hour - 1, 3n)],
      hour,
    );
    expect(candles.map(({ start, open, close }) => [start, open, close])).toEqual([
      [edge - hour, 1n, 1n],
      [edge, 2n, 3n],
    ]);
  });

  it("leave what they are merged from as it is", () => {
    const candle: Candle = Object.freeze(candleAt(5, 1n));
    expect(mergeCandles([candle, candleAt(6, 9n)], hour)[0]?.high).toBe(9n);
    expect(candle.high).toBe(1n);
  });
});

describe("the window of candles", () => {
  it("begins with a complete bucket that contains the time so many days ago", () => {
    const now = fc.integer({ min: 0, max: 4_102_444_800_000 });
    fc.assert(
      fc.property(now, fc.integer({ min: 1, max: 365 }), length, (nowMs, days, lengthMs) => {
        const start = windowStart(nowMs, days, lengthMs);
        const ago = nowMs - days * 24 * hour;
        expect(Math.abs(start % lengthMs)).toBe(0);
        expect(start).toBeLessThanOrEqual(ago);
        expect(ago - start).toBeLessThan(lengthMs);
      }),
    );
  });

  it.each([
    ["1h", 2, "2026-03-08T12:00:00Z"],
    ["4h", 30, "2026-02-08T12:00:00Z"],
    ["1d", 365, "2025-03-10T00:00:00Z"],
  ] as const)("of %s over %i days begins at %s", (interval, days, start) => {
    const now = at("2026-03-10T12:34:56Z");
    expect(windowStart(now, days, intervalMs[interval])).toBe(at(start));
  });

  it("has buckets of a day that are those of UTC", () => {
    expect(bucketStart(at("2026-03-10T23:59:59.999Z"), intervalMs["1d"])).toBe(
      at("2026-03-10T00:00:00Z"),
    );
  });
});

describe("the summary of candles", () => {
  it("is null without candles", () => {
    expect(summarizeCandles([])).toBeNull();
  });

  it("has first, last, high, low and change", () => {
    fc.assert(
      fc.property(seen, (list) => {
        fc.pre(list.length > 0);
        const values = list.map(({ value }) => value);
        const candles = mergeCandles(
          list.map(({ time, value }) => candleAt(time, value)),
          hour,
        );
        const sorted = values.toSorted((a, b) => (a < b ? -1 : 1));
        const [first = 0n] = values;
        const last = values.at(-1) ?? 0n;
        const summary = summarizeCandles(candles);
        expect(summary).toMatchObject({
          first,
          last,
          high: sorted.at(-1),
          low: sorted.at(0),
          change: last - first,
        });
        const percent = (Number(last - first) * 100) / Number(first);
        const tolerance = 0.000_051 + Math.abs(percent) * 1e-12;
        expect(Math.abs((summary?.changePercent ?? Number.NaN) - percent)).toBeLessThan(tolerance);
      }),
    );
  });

  it.each([
    [3n, 4n, 33.3333],
    [3n, 2n, -33.3333],
    [3n, 5n, 66.6667],
    [2_000_000n, 2_000_001n, 0.0001],
    [2_000_000n, 1_999_999n, -0.0001],
    [7n, 7n, 0],
    [0n, 7n, null],
  ])("of %s to %s is a change of %s percent", (first, last, percent) => {
    const summary = summarizeCandles([candleAt(0, first), candleAt(hour, last)]);
    expect(summary?.changePercent).toBe(percent);
  });
});

type Trade = [
  time: number,
  id: string,
  order: null,
  side: string,
  price: number,
  ...rest: unknown[],
];
type ExchangeCandle = [
  start: number,
  open: number,
  high: number,
  low: number,
  close: number,
  volume: number,
];

describe.runIf(existsSync(folder))("recorded trades of an exchange", () => {
  it("equal the exchange's own candles, without those without trades", () => {
    const gzipped = readFileSync(join(folder, "XRP_ETH-trades.json.gz"));
    const trades: Trade[] = JSON.parse(gunzipSync(gzipped).toString());
    const theirs: ExchangeCandle[] = JSON.parse(
      readFileSync(join(folder, "XRP_ETH-5m.json"), "utf8"),
    );
    const exact = (price: number) => parseUnits(price.toFixed(8), 8);

    const ours = mergeCandles(
      trades.map(([time, , , , price]) => candleAt(time, exact(price))),
      5 * minute,
    );

    const traded = theirs.filter(([, , , , , volume]) => volume > 0);
    expect(traded.length).toBeGreaterThan(500);
    expect(ours).toEqual(
      traded.map(([start, ...prices]) => {
        const [open, high, low, close] = prices.slice(0, 4).map(exact);
        return { start, open, high, low, close };
      }),
    );
  });
});
