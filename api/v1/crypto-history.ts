import { z } from "zod";
import { type Coin, coinSymbols, coins, currencies } from "#chains/coins.ts";
import { coinsInWords } from "#chains/texts.ts";
import { displayPrice } from "#jobs/prices/price.ts";
import {
  type CandleInterval,
  intervalMs,
  mergeCandles,
  type CandleSummary as Summary,
  summarizeCandles,
  type Candle as Values,
  windowStart,
} from "#projections/domain/candles.ts";
import type { Database } from "#projections/log/database.ts";
import { priceHistoryDays, readHourlyCandles } from "#projections/prices/read-prices.ts";
import { documentAs } from "../http/query.ts";
import { timedCache } from "../http/reads/cache.ts";
import { route } from "./context.ts";
import { chainRefusals, optionalChainId } from "./parameters.ts";
import { time } from "./wire.ts";

/** Whole units as a JSON number for display. */
type Display = (value: bigint) => number;

const intervals = Object.keys(intervalMs) as CandleInterval[];

/** Query parameters of a window; `defaultInterval` describes the default in words. */
export function windowFields(days: { max: number; default: number }, defaultInterval: string) {
  const message = `must be a whole number from 1 to ${days.max}`;
  return {
    days: z
      .string()
      .regex(/^[1-9]\d{0,2}$/, message)
      .transform(Number)
      .refine((value) => value <= days.max, message)
      .default(days.default)
      .meta({
        description: "Length of the window in days. It starts at the boundary of a bucket.",
        override: documentAs({
          type: "integer",
          minimum: 1,
          maximum: days.max,
          default: days.default,
          pattern: undefined,
        }),
      }),
    interval: z
      .enum(intervals)
      .optional()
      .meta({ description: `Length of a bucket, in UTC. ${defaultInterval}.` }),
  };
}

/** Fields of a window of at most `maxDays`. */
export function windowParts(maxDays: number) {
  return {
    interval: z.enum(intervals),
    days: z.int().min(1).max(maxDays),
    candles: z.array(Candle),
    summary: CandleSummary.nullable().meta({ description: "null without candles." }),
  };
}

const Candle = z
  .object({
    t: time.meta({ description: "Start of the bucket, UTC." }),
    o: z.number(),
    h: z.number(),
    l: z.number(),
    c: z.number(),
  })
  .meta({ id: "Candle" });

const CandleSummary = z
  .object({
    first: z.number().meta({ description: "What the first candle opened at." }),
    last: z.number().meta({ description: "What the last candle closed at." }),
    high: z.number(),
    low: z.number(),
    change: z.number().meta({ description: "`last` less `first`." }),
    changePct: z.number().nullable().meta({ description: "Percent of `first`, four decimals." }),
  })
  .meta({ id: "CandleSummary" });

export function presentCandle({ start, open, high, low, close }: Values, display: Display) {
  return {
    t: new Date(start).toISOString(),
    o: display(open),
    h: display(high),
    l: display(low),
    c: display(close),
  };
}

export function presentSummary({ changePercent, ...values }: Summary, display: Display) {
  const { first, last, high, low, change } = values;
  return {
    first: display(first),
    last: display(last),
    high: display(high),
    low: display(low),
    change: display(change),
    changePct: changePercent,
  };
}

const maxAgeSeconds = { upToAWeek: 60, beyond: 300 };

const History = z
  .object({
    type: z.enum(coins),
    currency: z.enum(coinSymbols),
    unit: z.literal("USD"),
    ...windowParts(priceHistoryDays),
  })
  .meta({ id: "CryptoHistory" });

export const cryptoHistory = route(
  {
    method: "get",
    path: "/v1/crypto/history",
    operationId: "getCryptoHistory",
    tag: "Prices",
    summary: `USD price of ${coinsInWords}, as candles. At most a minute old, beyond seven days five minutes, the caller's cache included`,
    query: z.object({
      chainId: optionalChainId,
      type: z.enum(coins).meta({ description: "The coin." }),
      ...windowFields(
        { max: priceHistoryDays, default: 30 },
        "Default: 1h up to 2 days, 4h up to 30 days, else 1d",
      ),
    }),
    data: History,
    refuses: chainRefusals,
    maxAgeSeconds: maxAgeSeconds.upToAWeek,
  },
  async ({ query }, { db, now }) => {
    const { type, days, interval = defaultInterval(days) } = query;
    const window = { type, days, interval };
    const request = { window, now: now() };
    const { value: data, maxAgeSeconds } = await historyOf(db, JSON.stringify(window), request);
    return { data, maxAgeSeconds };
  },
);

function defaultInterval(days: number): CandleInterval {
  if (days <= 2) return "1h";
  return days <= 30 ? "4h" : "1d";
}

type Window = { type: Coin; days: number; interval: CandleInterval };
type HistoryRequest = { window: Window; now: Date };

const historyOf = timedCache({
  seconds: ({ window: { days } }: HistoryRequest) =>
    days > 7 ? maxAgeSeconds.beyond : maxAgeSeconds.upToAWeek,
  read: readHistory,
  maxSize: 200,
});

async function readHistory(
  db: Database,
  { window, now }: HistoryRequest,
): Promise<z.output<typeof History>> {
  const { type, days, interval } = window;
  const lengthMs = intervalMs[interval];
  const from = new Date(windowStart(now.getTime(), days, lengthMs));
  const candles = mergeCandles(await readHourlyCandles(db, type, from), lengthMs);
  const summary = summarizeCandles(candles);
  return {
    ...window,
    currency: currencies[type].symbol,
    unit: "USD" as const,
    candles: candles.map((candle) => presentCandle(candle, displayPrice)),
    summary: summary && presentSummary(summary, displayPrice),
  };
}
