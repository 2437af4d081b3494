import type { Hex } from "viem";
import { z } from "zod";
import { commaList } from "#api/http/query.ts";
import { timedCache } from "#api/http/reads/cache.ts";
import { coinSymbols, currencies } from "#chains/coins.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import type { CollectionRef } from "#projections/collections/find-collection.ts";
import { readFloorCandles, readFloorLines } from "#projections/collections/read-floors.ts";
import {
  type CandleInterval,
  intervalMs,
  summarizeCandles,
  windowStart,
} from "#projections/domain/candles.ts";
import type { Database } from "#projections/log/database.ts";
import {
  contractsOfReference,
  LinkedCollection,
  presentLinkedCollection,
  referTo,
  rejectUnknownCollection,
} from "../collection-reference.ts";
import { route } from "../context.ts";
import { presentCandle, presentSummary, windowFields, windowParts } from "../crypto-history.ts";
import { chainId, chainRefusals, collectionKey, wallet } from "../parameters.ts";
import { address, displayAmount, time, uint256Text } from "../wire.ts";

const historyMaxDays = 30;
const historyMaxAgeSeconds = 60;
export const FloorHistory = z
  .object({
    collection: LinkedCollection,
    currency: z.enum(coinSymbols),
    ...windowParts(historyMaxDays),
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
      ...windowFields({ max: historyMaxDays, default: 7 }, "Default: 1h up to 2 days, else 4h"),
    }),
    data: FloorHistory,
    refuses: { not_found: 404, ...chainRefusals },
    maxAgeSeconds: historyMaxAgeSeconds,
  },
  async ({ params, query }, { db, siteUrl, now }) => {
    const found = await referTo(db, query.chainId, params.collection);
    if (found === null) return rejectUnknownCollection(query.chainId, params.collection);
    const { days, interval = days <= 2 ? "1h" : "4h" } = query;
    const window = { chainId: query.chainId, days, interval };
    const contractIds = contractsOfReference(found);
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

const historyOf = timedCache({
  seconds: () => historyMaxAgeSeconds,
  read: readHistory,
  maxSize: 1_000,
});

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

const lineMaxDays = 30;
const maxCollections = 50;
const lineMaxAgeSeconds = 60;

const addressLength = 43;
const addresses = commaList(maxCollections * addressLength)
  .pipe(z.array(wallet).max(maxCollections))
  .transform((all) => [...new Set(all)].sort())
  .meta({
    description: `Addresses of collections as rankings name them, comma-separated, at most ${maxCollections}. Each line is of all contracts of its collection.`,
    override: { type: "string", pattern: "^0x[a-fA-F0-9]{40}(,0x[a-fA-F0-9]{40})*$" },
  });

const FloorLine = z
  .object({
    address,
    points: z
      .array(z.object({ t: time, c: z.number(), wei: uint256Text }))
      .meta({ description: "The floor at the end of each interval in which there was one." }),
  })
  .meta({ id: "FloorLine" });

export const floorLines = route(
  {
    method: "get",
    path: "/v1/floor-lines",
    operationId: "listFloorLines",
    tag: "Collections",
    loadClass: "lists",
    summary:
      "Floor prices of several collections over time, for rankings: what the candles of each closed at. At most a minute old",
    query: z.object({
      chainId,
      collections: addresses,
      days: windowFields({ max: lineMaxDays, default: 7 }, "").days,
    }),
    data: z.array(FloorLine),
    refuses: chainRefusals,
    maxAgeSeconds: lineMaxAgeSeconds,
  },
  async ({ query }, { db, now }) => {
    const key = JSON.stringify(query);
    const { value, maxAgeSeconds } = await linesOf(db, key, { ...query, now: now() });
    return { data: value, maxAgeSeconds };
  },
);

type Request = { chainId: ChainId; collections: readonly Hex[]; days: number; now: Date };

const linesOf = timedCache({ seconds: () => lineMaxAgeSeconds, read: readLines, maxSize: 500 });

async function readLines(db: Database, { chainId, collections, days, now }: Request) {
  const lengthMs = intervalMs[days <= 2 ? "1h" : "4h"];
  const from = new Date(windowStart(now.getTime(), days, lengthMs));
  const lines = await readFloorLines(db, chainId, collections, from, lengthMs);
  return collections.map((one) => ({
    address: one,
    points: (lines.get(one) ?? []).map(({ start, close }) => ({
      t: new Date(start).toISOString(),
      c: displayAmount(close),
      wei: String(close),
    })),
  }));
}
