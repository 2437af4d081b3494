import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { Database } from "../../../../projections/database.ts";
import {
  type CandleInterval,
  intervalMs,
  summarizeCandles,
  windowStart,
} from "../../../../projections/domain/candles.ts";
import type { CollectionRef } from "../../../../projections/reads/collections/find-collection.ts";
import { readFloorCandles } from "../../../../projections/reads/floors/read-floors.ts";
import { presentCandle, presentSummary, windowFields, windowParts } from "../../views/candle.ts";
import { LinkedCollection, presentLinkedCollection } from "../../views/linked-collection.ts";
import { displayAmount } from "../../views/money.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey } from "../routing/parameters.ts";
import { noCollection, referTo } from "./reference.ts";

const maxDays = 30;
const maxAgeSeconds = 60;
const symbols: Record<ChainId, "ETH" | "APE"> = { 1: "ETH", 33139: "APE" };

const History = z
  .object({
    collection: LinkedCollection,
    currency: z.enum(["ETH", "APE"]),
    ...windowParts(maxDays),
  })
  .meta({ id: "FloorHistory" });

export const floorHistory = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/floor-history",
    tag: "Collections",
    summary: "Floor price of a collection, as candles",
    params: z.object({ collection: collectionKey }),
    query: z.object({
      chainId,
      ...windowFields({ max: maxDays, default: 7 }, "Default: 1h up to 2 days, else 4h"),
    }),
    data: History,
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
    const context = { contractIds, window, now: now() };
    const history = await historiesOf(db).fetch(key, { context });
    if (history === undefined) throw new Error("the cache returned no history");
    return {
      data: {
        collection: presentLinkedCollection(found, { siteUrl, chainId: query.chainId }),
        currency: symbols[query.chainId],
        interval,
        days,
        ...history,
      },
    };
  },
);

type Window = { chainId: ChainId; days: number; interval: CandleInterval };
type HistoryRequest = Pick<CollectionRef, "contractIds"> & { window: Window; now: Date };
type Histories = LRUCache<string, Awaited<ReturnType<typeof readHistory>>, HistoryRequest>;

const caches = new WeakMap<Database, Histories>();

/** Concurrent requests share one read, which is cached for `maxAgeSeconds`. */
function historiesOf(db: Database): Histories {
  const known = caches.get(db);
  if (known !== undefined) return known;
  const histories: Histories = new LRUCache({
    max: 1_000,
    ttl: maxAgeSeconds * 1_000,
    fetchMethod: (_key, _stale, { context }) => readHistory(db, context),
  });
  caches.set(db, histories);
  return histories;
}

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
