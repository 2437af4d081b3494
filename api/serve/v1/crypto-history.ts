import { z } from "zod";
import { type Coin, coinSymbols, coins, currencies } from "#chains/coins.ts";
import { coinsInWords } from "#chains/texts.ts";
import type { Database } from "#projections/log/database.ts";
import { type CandleInterval, intervalMs, mergeCandles, summarizeCandles, windowStart } from "#projections/domain/candles.ts";
import { priceHistoryDays, readHourlyCandles } from "#projections/prices/read-prices.ts";
import { displayPrice } from "#jobs/prices/price.ts";
import { timedCache } from "#api/http/reads/cache.ts";
import { presentCandle, presentSummary, windowFields, windowParts } from "../views/candle.ts";
import { route } from "./routing/context.ts";
import { chainRefusals, optionalChainId } from "./routing/parameters.ts";

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
