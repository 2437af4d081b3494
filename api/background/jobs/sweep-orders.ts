import type { Logger } from "pino";
import type { Hex } from "viem";
import type { Database } from "../../../projections/database.ts";
import { partnerNames } from "../../../projections/domain/partners.ts";
import { readOrderBookPosition } from "../../../projections/reads/orders/read-order-book-position.ts";
import {
  type OrderByAge,
  type OrderSource,
  readOrdersByStatus,
} from "../../../projections/reads/orders/read-orders-by-status.ts";
import { readOrdersToRecheck } from "../../../projections/reads/orders/read-orders-to-recheck.ts";
import type { ChainClient } from "../chain/clients.ts";
import { RpcFailure } from "../chain/rpc-batch.ts";
import type { Signal } from "../log-signal/signal.ts";
import type { ChangingContracts } from "./changing-contracts.ts";
import { checkOrders } from "./check-orders.ts";

/** Orders of one batch, and maximum batches per interval for each scan. */
const batchSize = 200;
const batchesPerInterval = 25;
/** Partners show many more listings than the native order book, and check theirs themselves. */
const partnerBatchesPerInterval = 1;
const retryMs = 5_000;

type SweepOptions = {
  db: Database;
  client: ChainClient;
  changing: ChangingContracts;
  /** Notified when the projections have advanced. */
  changeSignal: Signal;
  intervalMs: number;
  logger: Logger;
  signal: AbortSignal;
};

/** A part of the order book and the position of the scan over it. */
type BookScan = { book: OrderSource; status: "active" | "inactive"; after: OrderByAge | null };

/** State kept between two passes. `left`: scans of this interval that have not ended, with the batches they may read. */
type SweepState = {
  seen: bigint;
  dueAt: number;
  scans: readonly BookScan[];
  left: { scan: BookScan; batches: number }[];
};

/**
 * Reads from a chain what events do not show: at once for orders that recent facts leave uncertain, and for the whole
 * order book in scans. Between two batches of a scan come uncertain orders, and a pause as long as the batch took, which a
 * change of the book ends. A scan continues where the interval before stopped, so a large book takes several intervals.
 */
export async function runOrderSweep(options: SweepOptions): Promise<void> {
  const { db, changeSignal, intervalMs, logger, signal } = options;
  const { chainId } = options.client;
  const scans = (["active", "inactive"] as const).flatMap((status) =>
    (["listings", "bids", ...partnerNames] as const).map(
      (book): BookScan => ({ book, status, after: null }),
    ),
  );
  const dueAt = Date.now() + intervalMs;
  const state: SweepState = { seen: await readOrderBookPosition(db), dueAt, scans, left: [] };
  while (!signal.aborted) {
    try {
      await checkUncertain(options, state);
      await changeSignal.wait(await scanOn(options, state), signal);
    } catch (error) {
      // Else each notification would ask a node that is down again. The scans go on when they are due.
      state.left = [];
      const message = "checking orders failed, retrying";
      if (error instanceof RpcFailure) logger.warn({ chainId, reason: error.message }, message);
      else logger.error({ err: error, chainId }, message);
      await changeSignal.wait(retryMs, signal);
    }
  }
}

async function checkUncertain(options: SweepOptions, state: SweepState): Promise<void> {
  const { db, client } = options;
  const position = await readOrderBookPosition(db);
  if (position <= state.seen) return;
  const window = { after: state.seen, upTo: position };
  await checkBatch(options, await readOrdersToRecheck(db, client.chainId, window));
  state.seen = position;
}

/** Checks the next orders of the scans, when they are due. Returns the milliseconds to wait until the next call. */
async function scanOn(options: SweepOptions, state: SweepState): Promise<number> {
  const begun = Date.now();
  if (state.left.length === 0) {
    if (begun < state.dueAt) return state.dueAt - begun;
    state.dueAt = begun + options.intervalMs;
    state.left = state.scans.map((scan) => ({ scan, batches: batchesOf(scan) }));
  }
  while (state.left[0] !== undefined) {
    const [current] = state.left;
    const checked = await scanBatch(options, current.scan);
    current.batches -= 1;
    if (current.scan.after === null || current.batches === 0) state.left.shift();
    if (checked > 0) return Date.now() - begun;
  }
  return Math.max(0, state.dueAt - Date.now());
}

const batchesOf = ({ book }: BookScan) =>
  book === "listings" || book === "bids" ? batchesPerInterval : partnerBatchesPerInterval;

/** Returns the number of orders that were checked. */
async function scanBatch(options: SweepOptions, scan: BookScan): Promise<number> {
  const { db, client } = options;
  const part = { source: scan.book, status: scan.status, chainId: client.chainId };
  const orders = await readOrdersByStatus(db, part, scan.after, batchSize);
  await checkBatch(
    options,
    orders.map(({ orderHash }) => orderHash),
  );
  scan.after = orders.length < batchSize ? null : (orders.at(-1) ?? null);
  return orders.length;
}

async function checkBatch(
  { db, client, changing, logger }: SweepOptions,
  orders: readonly Hex[],
): Promise<void> {
  if (orders.length === 0) return;
  const changed = await checkOrders(db, { client, changing }, orders, new Date());
  if (changed > 0) {
    logger.info({ chainId: client.chainId, readings: changed }, "order readings changed");
  }
}
