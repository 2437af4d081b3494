import type { Logger } from "pino";
import { areBasesEffective, openRecheckedPosition, storeRecheckedPosition, readOrdersToRecheck, readNewUnknownCounters } from "#projections/orders/read-orders-to-recheck.ts";
import type { Database } from "#projections/log/database.ts";
import type { Window } from "#projections/engine/projection.ts";
import { readOrderBookPosition } from "#projections/orders/read-orders.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { ChangingContracts } from "./changing-contracts.ts";
import { type Checked, checkCounters, checkOrders } from "./check-orders.ts";

/** Facts that are looked through at once, and orders or makers that are read at once. */
const windowFacts = 10_000n;
const batchSize = 200;

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
export function openUncertainOrders(
  options: UncertainOptions,
): (signal: AbortSignal) => Promise<number> {
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
export function logChanged(logger: Logger, chainId: number, readings: number): void {
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
  const count = Math.ceil(items.length / batchSize);
  return Array.from({ length: count }, (_, index) =>
    items.slice(index * batchSize, (index + 1) * batchSize),
  );
}
