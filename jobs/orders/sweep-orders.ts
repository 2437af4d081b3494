import type { Logger } from "pino";
import type { Hex } from "viem";
import { partnerNames } from "#projections/domain/partners.ts";
import type { Window } from "#projections/engine/projection.ts";
import type { Database } from "#projections/log/database.ts";
import { readOrderBookPosition } from "#projections/orders/read-orders.ts";
import {
  areBasesEffective,
  type OrderByAge,
  type OrderSource,
  openRecheckedPosition,
  readNewUnknownCounters,
  readOrdersByStatus,
  readOrdersToRecheck,
  readUnknownCounters,
  storeRecheckedPosition,
} from "#projections/orders/read-orders-to-recheck.ts";
import type { ChainClient } from "../chain/client.ts";
import type { Job, Waker } from "../runner/job.ts";
import type { ChangingContracts } from "./changing-contracts.ts";
import { type Checked, checkCounters, checkOrders } from "./check-orders.ts";

/** Orders of one batch, and maximum batches per interval for each scan. */
const batchSize = 200;
const batchesPerInterval = 25;
/** Partners show many more listings than the native order book, and check theirs themselves. */
const partnerBatchesPerInterval = 1;
/** Ended orders of one batch: few of them have a maker whose counter is asked for. */
const endedBatchSize = 1_000;
const retryMs = 5_000;

type SweepOptions = {
  db: Database;
  client: ChainClient;
  changing: ChangingContracts;
  /** Notified when the projections have advanced. */
  changeSignal: Waker;
  intervalMs: number;
  logger: Logger;
};

/** A part of the order book, with the position of the scan over it. */
type BookScan = {
  batchesPerInterval: number;
  /** Checks the next orders, which are the first ones after the last ones. */
  checkNext(): Promise<{ isEmpty: boolean; isLast: boolean }>;
};

/** State kept between two passes. `left`: scans of this interval that have not ended, with the batches they may read. */
type SweepState = {
  dueAt: number;
  scans: readonly BookScan[];
  left: { scan: BookScan; batches: number }[];
};

/**
 * Reads from a chain what events do not show: at once for orders that recent facts leave uncertain, and for the whole
 * order book in scans. Between two batches of a scan come uncertain orders, and a pause as long as the batch took, which a
 * change of the book ends. A scan continues where the interval before stopped, so a large book takes several intervals.
 */
export function orderSweep(options: SweepOptions): Job {
  const { changeSignal, intervalMs } = options;
  const checkUncertain = openUncertainOrders(options);
  const state: SweepState = { dueAt: Date.now() + intervalMs, scans: openScans(options), left: [] };
  return {
    name: "order sweep",
    about: { chainId: options.client.chainId },
    wakesOn: changeSignal,
    reads: ["listings", "bids"],
    retry: { firstMs: retryMs, mostMs: retryMs, isWoken: true },
    async run(signal) {
      try {
        return Math.min(await checkUncertain(signal), await scanOn(options, state));
      } catch (error) {
        // Else each notification would ask a node that is down again. The scans go on when they are due.
        state.left = [];
        throw error;
      }
    },
  };
}

/** Checks the next orders of the scans, when they are due. Returns the milliseconds to wait until the next call. */
async function scanOn({ intervalMs }: SweepOptions, state: SweepState): Promise<number> {
  const begun = Date.now();
  if (state.left.length === 0) {
    if (begun < state.dueAt) return state.dueAt - begun;
    state.dueAt = begun + intervalMs;
    state.left = state.scans.map((scan) => ({ scan, batches: scan.batchesPerInterval }));
  }
  while (state.left[0] !== undefined) {
    const [current] = state.left;
    const { isEmpty, isLast } = await current.scan.checkNext();
    current.batches -= 1;
    if (isLast || current.batches === 0) state.left.shift();
    if (!isEmpty) return Date.now() - begun;
  }
  return Math.max(0, state.dueAt - Date.now());
}

function openScans(options: SweepOptions): BookScan[] {
  const open = (["active", "inactive"] as const).flatMap((status) =>
    (["listings", "bids", ...partnerNames] as const).map((book) => scanOpen(options, book, status)),
  );
  const ended = (["listings.listing", "bids.bid"] as const).map((table) =>
    scanCancelled(options, table),
  );
  return [...open, ...ended];
}

function scanOpen(
  options: SweepOptions,
  source: OrderSource,
  status: "active" | "inactive",
): BookScan {
  const { db, client, changing, logger } = options;
  const { chainId } = client;
  const isOurs = source === "listings" || source === "bids";
  let after: OrderByAge | null = null;
  return {
    batchesPerInterval: isOurs ? batchesPerInterval : partnerBatchesPerInterval,
    async checkNext() {
      const orders = await readOrdersByStatus(db, { source, status, chainId }, after, batchSize);
      const hashes = orders.map(({ orderHash }) => orderHash);
      const { changed } = await checkOrders(db, { client, changing }, hashes, new Date());
      logChanged(logger, chainId, changed);
      after = orders.length < batchSize ? null : (orders.at(-1) ?? null);
      return { isEmpty: orders.length === 0, isLast: after === null };
    },
  };
}

/** Orders that are cancelled for want of their maker's counter: whatever let it escape before is mended. */
function scanCancelled(
  { db, client, logger }: SweepOptions,
  table: "listings.listing" | "bids.bid",
): BookScan {
  const { chainId } = client;
  let after: Hex | null = null;
  return {
    batchesPerInterval,
    async checkNext() {
      const part = { chainId, table, after };
      const { makers, last } = await readUnknownCounters(db, part, endedBatchSize);
      if (makers.length > 0) {
        const { changed } = await checkCounters(db, client, makers, new Date());
        logChanged(logger, chainId, changed);
      }
      after = last;
      return { isEmpty: makers.length === 0 && last === null, isLast: last === null };
    },
  };
}

/** Facts that are looked through at once, and orders or makers that are read at once. */
const windowFacts = 10_000n;
const uncertainBatchSize = 200;

/** Until a node is asked again that did not have the block yet, or not have followed a reorg. */
const behindMs = 1_000;

type UncertainOptions = {
  db: Database;
  client: ChainClient;
  changing: ChangingContracts;
  logger: Logger;
};

/** How far facts are looked through, and what of that is stored. */
type Position = { seen: bigint; stored: bigint };

/** One request, with the height that it is to be answered at, or above it. */
type Batch = { fromNumber: bigint; check: () => Promise<Checked> };

/**
 * Checks orders that facts of the order book leave uncertain, one window of the log with each call. Returns the milliseconds
 * until the next call has something to do: without end when all facts are looked through. How far they are is stored, and
 * moves only when what the chain answered counts, so that neither a restart nor a node that is behind loses an order.
 */
function openUncertainOrders(options: UncertainOptions): (signal: AbortSignal) => Promise<number> {
  const { db, client } = options;
  let position: Position | undefined;
  return async (signal) => {
    const begunAt = Date.now();
    const last = await readOrderBookPosition(db);
    position ??= await openPosition(db, client.chainId, last);
    if (last <= position.seen) return Number.POSITIVE_INFINITY;
    const next = position.seen + windowFacts;
    const upTo = last < next ? last : next;
    if (!(await checkWindow({ ...options, signal }, position, upTo))) return behindMs;
    return upTo < last ? Date.now() - begunAt : Number.POSITIVE_INFINITY;
  };
}

async function openPosition(db: Database, chainId: number, last: bigint): Promise<Position> {
  const stored = await openRecheckedPosition(db, chainId, last);
  return { seen: stored, stored };
}

/** Returns whether the position has moved. */
async function checkWindow(
  options: UncertainOptions & { signal: AbortSignal },
  position: Position,
  upTo: bigint,
): Promise<boolean> {
  const batches = await readBatches(options, { after: position.seen, upTo });
  for (const batch of batches) if (!(await checkBatch(options, batch))) return false;
  position.seen = upTo;
  // Looking through facts again that leave nothing uncertain costs less than a write with each change of the book.
  if (batches.length > 0 || upTo - position.stored >= windowFacts) {
    await storeRecheckedPosition(options.db, options.client.chainId, upTo);
    position.stored = upTo;
  }
  return true;
}

/** Returns whether the chain's answers count. */
async function checkBatch(
  { db, client: { chainId }, logger, signal }: UncertainOptions & { signal: AbortSignal },
  { fromNumber, check }: Batch,
): Promise<boolean> {
  if (signal.aborted) return false;
  const { changed, bases } = await check();
  if (bases.some(({ number }) => number < fromNumber)) return false;
  if (!(await areBasesEffective(db, chainId, bases))) return false;
  logChanged(logger, chainId, changed);
  return true;
}

/** Logs how many readings differed from the log. */
function logChanged(logger: Logger, chainId: number, readings: number): void {
  if (readings > 0) logger.info({ chainId, readings }, "order readings changed");
}

async function readBatches(
  { db, client, changing }: UncertainOptions,
  window: Window,
): Promise<Batch[]> {
  const { chainId } = client;
  const makers = await readNewUnknownCounters(db, chainId, window);
  const { orders, fromNumber } = await readOrdersToRecheck(db, chainId, window);
  return [
    ...inBatches(makers).map((batch) => ({
      fromNumber: 0n,
      check: () => checkCounters(db, client, batch, new Date()),
    })),
    ...inBatches(orders).map((batch) => ({
      fromNumber,
      check: () => checkOrders(db, { client, changing }, batch, new Date()),
    })),
  ];
}

function inBatches<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / uncertainBatchSize);
  return Array.from({ length: count }, (_, index) =>
    items.slice(index * uncertainBatchSize, (index + 1) * uncertainBatchSize),
  );
}
