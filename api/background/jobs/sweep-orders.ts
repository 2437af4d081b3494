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
  /** Notified when the projections have advanced. */
  changeSignal: Signal;
  intervalMs: number;
  logger: Logger;
  signal: AbortSignal;
};

/** A part of the order book and the position of the scan over it. */
type BookScan = { book: OrderSource; status: "active" | "inactive"; after: OrderByAge | null };

/** State kept between two passes. */
type SweepState = { seen: bigint; dueAt: number; scans: BookScan[] };

/**
 * Reads from a chain what events do not show: at once for orders that recent facts leave uncertain, and for the whole
 * order book in scans. A scan continues where the interval before stopped, so a large book takes several intervals.
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
  const state: SweepState = { seen: await readOrderBookPosition(db), dueAt, scans };
  while (!signal.aborted) {
    try {
      await runPass(options, state);
      await changeSignal.wait(Math.max(0, state.dueAt - Date.now()), signal);
    } catch (error) {
      const message = "checking orders failed, retrying";
      if (error instanceof RpcFailure) logger.warn({ chainId, reason: error.message }, message);
      else logger.error({ err: error, chainId }, message);
      await changeSignal.wait(retryMs, signal);
    }
  }
}

async function runPass(options: SweepOptions, state: SweepState): Promise<void> {
  const { db, client, intervalMs } = options;
  const position = await readOrderBookPosition(db);
  if (position > state.seen) {
    const window = { after: state.seen, upTo: position };
    await checkBatch(options, await readOrdersToRecheck(db, client.chainId, window));
    state.seen = position;
  }
  if (Date.now() < state.dueAt) return;
  state.dueAt = Date.now() + intervalMs;
  for (const scan of state.scans) await scanBook(options, scan);
}

async function scanBook(options: SweepOptions, scan: BookScan): Promise<void> {
  const { db, client, signal } = options;
  const { book, status } = scan;
  const batches =
    book === "listings" || book === "bids" ? batchesPerInterval : partnerBatchesPerInterval;
  for (let batch = 0; batch < batches && !signal.aborted; batch += 1) {
    const part = { source: book, status, chainId: client.chainId };
    const orders = await readOrdersByStatus(db, part, scan.after, batchSize);
    await checkBatch(
      options,
      orders.map(({ orderHash }) => orderHash),
    );
    scan.after = orders.length < batchSize ? null : (orders.at(-1) ?? null);
    if (scan.after === null) return;
  }
}

async function checkBatch(
  { db, client, logger }: SweepOptions,
  orders: readonly Hex[],
): Promise<void> {
  if (orders.length === 0) return;
  const changed = await checkOrders(db, client, orders, new Date());
  if (changed > 0) {
    logger.info({ chainId: client.chainId, readings: changed }, "order readings changed");
  }
}
