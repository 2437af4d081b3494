import type { Logger } from "pino";
import type { ChainId } from "../../../chains/index.ts";
import type { Database } from "../../../projections/database.ts";
import { isRejection } from "../../../projections/domain/rejection.ts";
import { markStale } from "../../../projections/partner-sync/collection-pass.ts";
import { countSkipped } from "../../../projections/partner-sync/count-skipped.ts";
import { readSyncedSlugs } from "../../../projections/partner-sync/read-synced-collections.ts";
import { backOff, sleep } from "../log-signal/back-off.ts";
import type {
  Partner,
  PartnerStream,
  SkippedEntry,
  StreamConnection,
} from "../marketplaces/partner.ts";
import { recordStreamedOrder } from "../marketplaces/record-streamed-order.ts";
import { createStreamQueue, type StreamQueue } from "../marketplaces/stream-queue.ts";
import { syncIntervals } from "../marketplaces/sync-step.ts";

/** Times in milliseconds. */
const defaultLimits = {
  /** Orders queued at most; further ones are left to the polling passes. */
  maxQueued: 1_000,
  /** Between two updates of the watched collections. */
  refreshMs: 5_000,
  /** Wait after a refused key. */
  refusedKeyMs: 600_000,
  /** After a connection of this duration the backoff is reset. */
  stableMs: 60_000,
  /** Maximum random extra wait, so that processes do not reconnect at the same time. */
  jitterMs: 1_000,
  recordMissedMs: 1_000,
};

export type StreamLimits = typeof defaultLimits;

type StreamOptions = {
  db: Database;
  partner: Partner;
  /** The chains served. */
  chainIds: readonly ChainId[];
  now: () => Date;
  onSkipped: (skipped: readonly SkippedEntry[]) => void;
  limits?: Partial<StreamLimits>;
  logger: Logger;
  signal: AbortSignal;
};

type StreamContext = Omit<StreamOptions, "limits"> & {
  stream: PartnerStream;
  queue: StreamQueue;
  limits: StreamLimits;
};

/**
 * Listens to a partner's event stream and records the listings it mentions. Polling finds whatever the stream misses:
 * a gap makes a full pass due. Returns at once for a partner without a stream.
 */
export async function runPartnerStream(options: StreamOptions): Promise<void> {
  const { stream } = options.partner;
  if (stream === undefined) return;
  const limits = { ...defaultLimits, ...options.limits };
  const context = { ...options, stream, limits, queue: createStreamQueue(limits.maxQueued) };
  await Promise.all([stayConnected(context), drainQueue(context), recordMissed(context)]);
}

async function stayConnected(options: StreamContext): Promise<void> {
  const { partner, limits, now, logger, signal } = options;
  const { name } = partner;
  let failures = 0;
  let lastReason = "";
  let missed: ReadonlySet<string> = new Set();
  while (!signal.aborted) {
    const connection = await options.stream.connect(options.queue.listener);
    if (isRejection(connection)) {
      failures += 1;
      if (lastReason !== connection.message) {
        const reason = connection.message;
        logger.warn({ partner: name, reason }, "partner stream not connected, retrying");
      }
      lastReason = connection.message;
      if (connection.rejected === "key_refused") await sleep(limits.refusedKeyMs, signal);
      else await backOffWithJitter(options, failures);
      continue;
    }
    lastReason = "";
    const since = now().getTime();
    logger.info({ partner: name }, "partner stream connected");
    missed = await watchCollections(options, connection, missed);
    if (signal.aborted) return;
    failures = now().getTime() - since >= limits.stableMs ? 1 : failures + 1;
    logger.warn({ partner: name }, "partner stream disconnected, reconnecting");
    await backOffWithJitter(options, failures);
  }
}

async function backOffWithJitter(
  { limits, signal }: StreamContext,
  failures: number,
): Promise<void> {
  await sleep(Math.random() * limits.jitterMs, signal);
  await backOff(failures, signal);
}

/** Watches the synced collections until the connection ends; returns them. `missed`: those of the connection before. */
async function watchCollections(
  { db, partner, chainIds, queue, limits, logger, signal }: StreamContext,
  connection: StreamConnection,
  missed: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const ending = new AbortController();
  void connection.ended.then(() => ending.abort());
  const until = AbortSignal.any([signal, ending.signal]);
  let watched = missed;
  let pending = missed;
  while (!until.aborted) {
    try {
      watched = await readSyncedSlugs(db, partner.name, chainIds);
      connection.watch(watched);
      for (const slug of pending) queue.listener.onMissed(slug);
      pending = new Set();
    } catch (error) {
      if (!until.aborted) logger.error({ err: error }, "reading streamed collections failed");
    }
    await sleep(limits.refreshMs, until);
  }
  connection.close();
  return watched;
}

async function drainQueue(options: StreamContext): Promise<void> {
  const { queue, partner, logger, signal } = options;
  let failures = 0;
  while (!signal.aborted) {
    const queued = queue.take();
    if (queued === null) {
      await queue.waitForOrder(signal);
      continue;
    }
    try {
      failures = (await recordStreamedOrder(options, queued)) === "failed" ? failures + 1 : 0;
    } catch (error) {
      failures += 1;
      queue.listener.onMissed(queued.slug);
      if (!signal.aborted)
        logger.error({ err: error, partner: partner.name }, "recording streamed listing failed");
    }
    if (failures > 0) await backOff(failures, signal);
  }
}

/** Counts unreadable messages and makes full passes due for collections with gaps. */
async function recordMissed(options: StreamContext): Promise<void> {
  const { db, partner, queue, limits, now, logger, signal } = options;
  while (!signal.aborted) {
    await sleep(limits.recordMissedMs, signal);
    const { missed, skipped } = queue.takeMissed();
    options.onSkipped(skipped);
    try {
      await countSkipped(db, { marketplace: partner.name }, skipped, now());
      const readBefore = new Date(now().getTime() - syncIntervals.fullMs);
      if (missed.length > 0) await markStale(db, partner.name, missed, { now: now(), readBefore });
    } catch (error) {
      for (const slug of missed) queue.listener.onMissed(slug);
      if (!signal.aborted) logger.error({ err: error }, "recording stream gaps failed");
    }
  }
}
