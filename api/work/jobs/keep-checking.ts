import type { Logger } from "pino";
import type { Hex } from "viem";
import type { Database } from "../../../projections/database.ts";
import { partnerNames } from "../../../projections/facts/partner-listing.ts";
import { readBooksPosition } from "../../../projections/reads/orders/books-position.ts";
import {
  type Book,
  type OpenOrder,
  readDoubtfulOrders,
  readOpenOrders,
} from "../../../projections/reads/orders/read-open-orders.ts";
import type { ChainClient } from "../chain/clients.ts";
import { RpcFailure } from "../chain/rpc-batch.ts";
import type { Wake } from "../log-signal/wake.ts";
import { checkOrders } from "./check-orders.ts";

/** Orders of one round, and rounds that one interval has for each part of a book at most. */
const ordersAtOnce = 200;
const roundsPerSweep = 25;
/** Partners show many more listings than the house has, and look at them themselves. */
const roundsOfPartner = 1;
const retryMs = 5_000;

type Work = {
  db: Database;
  client: ChainClient;
  /** Rung when the projections have moved. */
  wake: Wake;
  intervalMs: number;
  logger: Logger;
  signal: AbortSignal;
};

/** A part of the book, and where the walk over it stands. */
type Walk = { book: Book; status: "active" | "inactive"; after: OpenOrder | null };

/** What is remembered between two passes. */
type Progress = { seen: bigint; dueAt: number; walks: Walk[] };

/**
 * Looks at a chain for what facts cannot show: at once where they leave a doubt, and at the whole book in turns. The
 * walk goes on where the interval before it ended, so a book too large for one interval takes several.
 */
export async function keepChecking(work: Work): Promise<void> {
  const { db, client, wake, intervalMs, logger, signal } = work;
  const walks = (["active", "inactive"] as const).flatMap((status) =>
    (["listings", "bids", ...partnerNames] as const).map(
      (book): Walk => ({ book, status, after: null }),
    ),
  );
  const dueAt = Date.now() + intervalMs;
  const progress: Progress = { seen: await readBooksPosition(db), dueAt, walks };
  while (!signal.aborted) {
    try {
      await pass(work, progress);
      await wake.wait(Math.max(0, progress.dueAt - Date.now()), signal);
    } catch (error) {
      const words = "orders are not checked, trying again";
      if (error instanceof RpcFailure) logger.warn(`${words}: ${error.message}`);
      else logger.error({ err: error, chainId: client.chainId }, words);
      await wake.wait(retryMs, signal);
    }
  }
}

async function pass(work: Work, progress: Progress): Promise<void> {
  const { db, client, intervalMs } = work;
  const projected = await readBooksPosition(db);
  if (projected > progress.seen) {
    const window = { after: progress.seen, upTo: projected };
    await check(work, await readDoubtfulOrders(db, client.chainId, window));
    progress.seen = projected;
  }
  if (Date.now() < progress.dueAt) return;
  progress.dueAt = Date.now() + intervalMs;
  for (const walk of progress.walks) await sweep(work, walk);
}

async function sweep(work: Work, walk: Walk): Promise<void> {
  const { db, client, signal } = work;
  const { book, status } = walk;
  const rounds = book === "listings" || book === "bids" ? roundsPerSweep : roundsOfPartner;
  for (let round = 0; round < rounds && !signal.aborted; round += 1) {
    const part = { book, status, chainId: client.chainId };
    const orders = await readOpenOrders(db, part, walk.after, ordersAtOnce);
    await check(
      work,
      orders.map(({ orderHash }) => orderHash),
    );
    walk.after = orders.length < ordersAtOnce ? null : (orders.at(-1) ?? null);
    if (walk.after === null) return;
  }
}

async function check({ db, client, logger }: Work, orders: readonly Hex[]): Promise<void> {
  if (orders.length === 0) return;
  const news = await checkOrders(db, client, orders, new Date());
  if (news > 0) logger.info(`chain ${client.chainId}: ${news} readings of orders were news`);
}
