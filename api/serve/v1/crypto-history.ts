import { LRUCache } from "lru-cache";
import { z } from "zod";
import { readHours } from "../../../projections/coin-prices/read.ts";
import type { Database } from "../../../projections/database.ts";
import {
  type CandleInterval,
  intervalMs,
  mergeCandles,
  summarizeCandles,
  windowStart,
} from "../../../projections/domain/candles.ts";
import { type Coin, coins } from "../../../projections/facts/price-ticked.ts";
import { displayPrice } from "../../work/prices/usd.ts";
import { presentCandle, presentSummary, windowFields, windowParts } from "../views/candle.ts";
import { route } from "./context.ts";

const maxDays = 365;
const maxAgeSeconds = { upToAWeek: 60, beyond: 300 };

const symbols: Record<Coin, "ETH" | "APE"> = { ethereum: "ETH", apecoin: "APE" };

const History = z
  .object({
    type: z.enum(coins),
    currency: z.enum(["APE", "ETH"]),
    unit: z.literal("USD"),
    ...windowParts(maxDays),
  })
  .meta({ id: "CryptoHistory" });

export const cryptoHistory = route(
  {
    method: "get",
    path: "/v1/crypto/history",
    tag: "Prices",
    summary: "What ETH and APE were worth in USD, as candles",
    query: z.object({
      type: z.enum(coins).meta({ description: "The coin." }),
      ...windowFields({ most: maxDays, usual: 30 }, "1h up to 2 days, 4h up to 30 days, else 1d"),
    }),
    data: History,
    refuses: { invalid_parameters: 422 },
    maxAgeSeconds: maxAgeSeconds.upToAWeek,
  },
  async ({ query }, { db, now }) => {
    const { type, days, interval = usualInterval(days) } = query;
    const window = { type, days, interval };
    const kept = historiesOf(db);
    const data = await kept.fetch(JSON.stringify(window), { context: { window, now: now() } });
    if (data === undefined) throw new Error("a history was not read");
    return { data, maxAgeSeconds: keptSeconds(days) };
  },
);

function usualInterval(days: number): CandleInterval {
  if (days <= 2) return "1h";
  return days <= 30 ? "4h" : "1d";
}

type Window = { type: Coin; days: number; interval: CandleInterval };
type Histories = LRUCache<string, z.output<typeof History>, { window: Window; now: Date }>;

const caches = new WeakMap<Database, Histories>();

/** One look at the database for all who ask for a history at the same time, and for as long as it may be kept. */
function historiesOf(db: Database): Histories {
  const known = caches.get(db);
  if (known !== undefined) return known;
  const histories: Histories = new LRUCache({
    max: 200,
    fetchMethod: async (_key, _stale, { context: { window, now }, options }) => {
      options.ttl = keptSeconds(window.days) * 1000;
      return await readHistory(db, window, now);
    },
  });
  caches.set(db, histories);
  return histories;
}

function keptSeconds(days: number): number {
  return days > 7 ? maxAgeSeconds.beyond : maxAgeSeconds.upToAWeek;
}

async function readHistory(db: Database, window: Window, now: Date) {
  const { type, days, interval } = window;
  const lengthMs = intervalMs[interval];
  const from = new Date(windowStart(now.getTime(), days, lengthMs));
  const candles = mergeCandles(await readHours(db, type, from), lengthMs);
  const summary = summarizeCandles(candles);
  return {
    ...window,
    currency: symbols[type],
    unit: "USD" as const,
    candles: candles.map((candle) => presentCandle(candle, displayPrice)),
    summary: summary && presentSummary(summary, displayPrice),
  };
}
