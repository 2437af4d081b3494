import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Database } from "../../../projections/database.ts";
import {
  type CandleInterval,
  intervalMs,
  mergeCandles,
  summarizeCandles,
  windowStart,
} from "../../../projections/domain/candles.ts";
import { type Coin, coins } from "../../../projections/facts/price-ticked.ts";
import { readHourlyCandles } from "../../../projections/reads/coin-prices/read-prices.ts";
import { displayPrice } from "../../background/prices/parse-price.ts";
import { presentCandle, presentSummary, windowFields, windowParts } from "../views/candle.ts";
import { route } from "./routing/context.ts";

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
    summary: "USD price of ETH or APE, as candles",
    query: z.object({
      type: z.enum(coins).meta({ description: "The coin." }),
      ...windowFields(
        { max: maxDays, default: 30 },
        "Default: 1h up to 2 days, 4h up to 30 days, else 1d",
      ),
    }),
    data: History,
    refuses: { invalid_parameters: 422 },
    maxAgeSeconds: maxAgeSeconds.upToAWeek,
  },
  async ({ query }, { db, now }) => {
    const { type, days, interval = defaultInterval(days) } = query;
    const window = { type, days, interval };
    const cache = historiesOf(db);
    const data = await cache.fetch(JSON.stringify(window), { context: { window, now: now() } });
    if (data === undefined) throw new Error("the cache returned no history");
    return { data, maxAgeSeconds: cacheSeconds(days) };
  },
);

function defaultInterval(days: number): CandleInterval {
  if (days <= 2) return "1h";
  return days <= 30 ? "4h" : "1d";
}

type Window = { type: Coin; days: number; interval: CandleInterval };
type Histories = LRUCache<string, z.output<typeof History>, { window: Window; now: Date }>;

const caches = new WeakMap<Database, Histories>();

/** Concurrent requests share one read, which is cached for `cacheSeconds`. */
function historiesOf(db: Database): Histories {
  const known = caches.get(db);
  if (known !== undefined) return known;
  const histories: Histories = new LRUCache({
    max: 200,
    fetchMethod: async (_key, _stale, { context: { window, now }, options }) => {
      options.ttl = cacheSeconds(window.days) * 1000;
      return await readHistory(db, window, now);
    },
  });
  caches.set(db, histories);
  return histories;
}

function cacheSeconds(days: number): number {
  return days > 7 ? maxAgeSeconds.beyond : maxAgeSeconds.upToAWeek;
}

async function readHistory(db: Database, window: Window, now: Date) {
  const { type, days, interval } = window;
  const lengthMs = intervalMs[interval];
  const from = new Date(windowStart(now.getTime(), days, lengthMs));
  const candles = mergeCandles(await readHourlyCandles(db, type, from), lengthMs);
  const summary = summarizeCandles(candles);
  return {
    ...window,
    currency: symbols[type],
    unit: "USD" as const,
    candles: candles.map((candle) => presentCandle(candle, displayPrice)),
    summary: summary && presentSummary(summary, displayPrice),
  };
}
