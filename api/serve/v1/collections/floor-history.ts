import { z } from "zod";
import { coinSymbols, currencies } from "#chains/coins.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import { type CandleInterval, intervalMs, summarizeCandles, windowStart } from "#projections/domain/candles.ts";
import type { CollectionRef } from "#projections/collections/find-collection.ts";
import { readFloorCandles } from "#projections/collections/read-floors.ts";
import { timedCache } from "#api/http/reads/cache.ts";
import { presentCandle, presentSummary, windowFields, windowParts } from "#api/serve/views/candle.ts";
import { LinkedCollection, presentLinkedCollection } from "#api/serve/views/linked-collection.ts";
import { displayAmount } from "#api/serve/views/money.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey } from "../routing/parameters.ts";
import { noCollection, referTo } from "./reference.ts";

const maxDays = 30;
const maxAgeSeconds = 60;
export const FloorHistory = z
  .object({
    collection: LinkedCollection,
    currency: z.enum(coinSymbols),
    ...windowParts(maxDays),
  })
  .meta({ id: "FloorHistory" });

export const floorHistory = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/floor-history",
    operationId: "getFloorHistory",
    tag: "Collections",
    loadClass: "lists",
    summary:
      "Floor price of a collection, as candles. At most a minute old, the caller's cache included",
    params: z.object({ collection: collectionKey }),
    query: z.object({
      chainId,
      ...windowFields({ max: maxDays, default: 7 }, "Default: 1h up to 2 days, else 4h"),
    }),
    data: FloorHistory,
    refuses: { not_found: 404, ...chainRefusals },
    maxAgeSeconds,
  },
  async ({ params, query }, { db, siteUrl, now }) => {
    const found = await referTo(db, query.chainId, params.collection);
    if (found === null) return noCollection(query.chainId, params.collection);
    const { days, interval = days <= 2 ? "1h" : "4h" } = query;
    const window = { chainId: query.chainId, days, interval };
    const { contractIds } = found;
    const key = JSON.stringify({ ...window, contractIds });
    const request = { contractIds, window, now: now() };
    const { value: history, maxAgeSeconds } = await historyOf(db, key, request);
    return {
      data: {
        collection: presentLinkedCollection(found, { siteUrl, chainId: query.chainId }),
        currency: currencies[chainById(query.chainId).coin].symbol,
        interval,
        days,
        ...history,
      },
      maxAgeSeconds,
    };
  },
);

type Window = { chainId: ChainId; days: number; interval: CandleInterval };
type HistoryRequest = Pick<CollectionRef, "contractIds"> & { window: Window; now: Date };

const historyOf = timedCache({ seconds: () => maxAgeSeconds, read: readHistory, maxSize: 1_000 });

async function readHistory(db: Database, { contractIds, window, now }: HistoryRequest) {
  const { chainId, days, interval } = window;
  const lengthMs = intervalMs[interval];
  const from = new Date(windowStart(now.getTime(), days, lengthMs));
  const candles = await readFloorCandles(db, chainId, contractIds, from, lengthMs);
  const summary = summarizeCandles(candles);
  return {
    candles: candles.map((candle) => presentCandle(candle, displayAmount)),
    summary: summary && presentSummary(summary, displayAmount),
  };
}
