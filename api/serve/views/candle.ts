import { z } from "zod";
import { type CandleInterval, intervalMs, type CandleSummary as Summary, type Candle as Values } from "#projections/domain/candles.ts";
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
        override: {
          type: "integer",
          minimum: 1,
          maximum: days.max,
          default: days.default,
          pattern: undefined,
        },
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
