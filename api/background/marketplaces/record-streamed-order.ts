import type { ChainId } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { isKnownListing, readCreators } from "#projections/partners/read-synced-collections.ts";
import { recordDelisted, recordListed } from "#projections/partners/sync-listings.ts";
import { type Partner, PartnerFailed, type PartnerStream } from "./partner.ts";
import type { QueuedOrder, StreamQueue } from "./stream-queue.ts";

type RecordContext = {
  db: Database;
  partner: Pick<Partner, "name">;
  stream: Pick<PartnerStream, "fetchStreamed">;
  /** The chains served. */
  chainIds: readonly ChainId[];
  queue: StreamQueue;
  now: () => Date;
};

/** A partner may announce a listing before its API returns it. Milliseconds. */
const retryMs = 3_000;

/**
 * Fetches an order announced by the stream and records the response. Changes of orders that are not known listings,
 * such as offers, need no request. Throws `PartnerFailed`: polling will find it.
 */
export async function recordStreamedOrder(
  context: RecordContext,
  entry: QueuedOrder,
): Promise<void> {
  const { db, partner, stream, queue, now } = context;
  const { slug, order } = entry;
  const key = { marketplace: partner.name, ...order };
  if (!context.chainIds.includes(order.chainId)) return;
  if (!order.isNew && !(await isKnownListing(db, key, order.orderHash))) return;
  const found = await stream.fetchStreamed(order, await readCreators(db, key, slug));
  if (found !== null && isRejection(found)) throw new PartnerFailed(found);
  if (found === null && order.isNew && entry.attempts === 0) {
    setTimeout(() => queue.put({ ...entry, attempts: 1 }), retryMs).unref();
    return;
  }
  if (found === null) await recordDelisted(db, key, now());
  else if (!("reason" in found)) await recordListed(db, found, now());
  else if (found.concerns === "none") await recordDelisted(db, key, now());
  else queue.listener.onSkipped(found);
}
