import { z } from "zod";
import type {
  CandleSummary as Summary,
  Candle as Values,
} from "../../../projections/domain/candles.ts";
import { time } from "./wire.ts";

/** Whole units as a JSON number for display. */
type Display = (value: bigint) => number;

export const Candle = z
  .object({
    t: time.meta({ description: "Start of the bucket, UTC." }),
    o: z.number(),
    h: z.number(),
    l: z.number(),
    c: z.number(),
  })
  .meta({ id: "Candle" });

export const CandleSummary = z
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
