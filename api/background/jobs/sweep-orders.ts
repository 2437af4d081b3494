import type { Logger } from "pino";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { partnerNames } from "#projections/domain/marketplaces.ts";
import { type OrderByAge, type OrderSource, readOrdersByStatus, readUnknownCounters } from "#projections/orders/read-orders-to-recheck.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { Job, Waker } from "../log-signal/job.ts";
import type { ChangingContracts } from "./changing-contracts.ts";
import { checkCounters, checkOrders } from "./check-orders.ts";
import { logChanged, openUncertainOrders } from "./check-uncertain-orders.ts";

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
