import type { Logger } from "pino";
import type { ChainId } from "#chains/index.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import {
  isKnownListing,
  readCreators,
  readSyncedSlugs,
} from "#projections/partners/read-synced-collections.ts";
import { countSkipped, recordDelisted, recordListed } from "#projections/partners/sync-listings.ts";
import { markStale } from "#projections/partners/sync-pass.ts";
import { backOffMs } from "../runner/back-off.ts";
import type { Job } from "../runner/job.ts";
import { runJobs } from "../runner/run-jobs.ts";
import {
  type Partner,
  PartnerFailed,
  type PartnerStream,
  type SkippedEntry,
  type StreamConnection,
  type StreamedOrder,
  type StreamListener,
} from "./partner.ts";
import { syncIntervals } from "./sync-step.ts";

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
};

type StreamContext = Omit<StreamOptions, "limits"> & {
  stream: PartnerStream;
  queue: StreamQueue;
  limits: StreamLimits;
};

/**
 * Listens to a partner's event stream and records the listings it mentions. Polling finds whatever the stream misses:
 * a gap makes a full pass due. None for a partner without a stream.
 */
export function partnerStream(options: StreamOptions): Job[] {
  const { stream } = options.partner;
  if (stream === undefined) return [];
  const limits = { ...defaultLimits, ...options.limits };
  const context = { ...options, stream, limits, queue: createStreamQueue(limits.maxQueued) };
  return [connecting(context), queueDraining(context), gapRecording(context)].map((job) => ({
    ...job,
    about: { partner: options.partner.name },
    reads: ["collections", "listings"],
  }));
}

/** Each run is one connection, or a try to open one: its end is logged in words of its own. */
function connecting(options: StreamContext): Job {
  const state: ConnectionState = { failures: 0, lastReason: "", missed: new Set() };
  return { name: "partner stream", run: (signal) => connectOnce(options, state, signal) };
}

type ConnectionState = { failures: number; lastReason: string; missed: ReadonlySet<string> };

/** Milliseconds until the next try. */
async function connectOnce(
  options: StreamContext,
  state: ConnectionState,
  signal: AbortSignal,
): Promise<number> {
  const { partner, limits, now, logger } = options;
  const { name } = partner;
  const connection = await options.stream.connect(options.queue.listener);
  if (isRejection(connection)) {
    state.failures += 1;
    const { message: reason } = connection;
    if (state.lastReason !== reason)
      logger.warn({ partner: name, reason }, "partner stream not connected, retrying");
    state.lastReason = reason;
    if (connection.rejected === "key_refused") return limits.refusedKeyMs;
    return pauseWithJitter(options, state.failures);
  }
  state.lastReason = "";
  const since = now().getTime();
  logger.info({ partner: name }, "partner stream connected");
  state.missed = await watchCollections({ ...options, signal }, connection, state.missed);
  if (signal.aborted) return 0;
  state.failures = now().getTime() - since >= limits.stableMs ? 1 : state.failures + 1;
  logger.warn({ partner: name }, "partner stream disconnected, reconnecting");
  return pauseWithJitter(options, state.failures);
}

const pauseWithJitter = ({ limits }: StreamContext, failures: number): number =>
  Math.random() * limits.jitterMs + backOffMs(failures);

/** Watches the synced collections until the connection ends; returns them. `missed`: those of the connection before. */
async function watchCollections(
  { db, partner, chainIds, queue, limits, logger, signal }: StreamContext & { signal: AbortSignal },
  connection: StreamConnection,
  missed: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const ending = new AbortController();
  void connection.ended.then(() => ending.abort());
  let watched = missed;
  let pending = missed;
  const watching: Job = {
    name: "partner stream topics",
    about: { partner: partner.name },
    every: limits.refreshMs,
    retry: { firstMs: limits.refreshMs, mostMs: limits.refreshMs },
    async run() {
      watched = await readSyncedSlugs(db, partner.name, chainIds);
      connection.watch(watched);
      for (const slug of pending) queue.listener.onMissed(slug);
      pending = new Set();
    },
  };
  await runJobs(watching, { logger, signal: AbortSignal.any([signal, ending.signal]) });
  connection.close();
  return watched;
}

function queueDraining(options: StreamContext): Job {
  const { queue } = options;
  return {
    name: "partner stream orders",
    wakesOn: { wait: (_, signal) => queue.waitForOrder(signal) },
    async run() {
      const queued = queue.take();
      if (queued === null) return undefined;
      try {
        await recordStreamedOrder(options, queued);
        return "more";
      } catch (error) {
        queue.listener.onMissed(queued.slug);
        throw error;
      }
    },
  };
}

/** Counts unreadable messages and makes full passes due for collections with gaps. */
function gapRecording(options: StreamContext): Job {
  const { db, partner, queue, limits, now } = options;
  const retry = { firstMs: limits.recordMissedMs, mostMs: limits.recordMissedMs };
  return {
    name: "partner stream gaps",
    every: limits.recordMissedMs,
    retry,
    async run() {
      const { missed, skipped } = queue.takeMissed();
      options.onSkipped(skipped);
      try {
        await countSkipped(db, { marketplace: partner.name }, skipped, now());
        const readBefore = new Date(now().getTime() - syncIntervals.fullMs);
        if (missed.length > 0)
          await markStale(db, partner.name, missed, { now: now(), readBefore });
      } catch (error) {
        for (const slug of missed) queue.listener.onMissed(slug);
        throw error;
      }
    },
  };
}

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
async function recordStreamedOrder(context: RecordContext, entry: QueuedOrder): Promise<void> {
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

/** An order from a stream event, its collection's slug, and how often it was fetched. */
type QueuedOrder = { slug: string; order: StreamedOrder; attempts: number };

/**
 * First-in, first-out queue of orders from a stream, without duplicates. When it is full, further orders are counted as
 * skipped and their collections as missed.
 */
function createStreamQueue(capacity: number) {
  const queued = new Map<string, QueuedOrder>();
  const missed = new Set<string>();
  let skipped: SkippedEntry[] = [];
  let onArrival = () => {};

  function skip(one: SkippedEntry): void {
    if (skipped.length < capacity) skipped.push(one);
  }

  function put(entry: QueuedOrder): void {
    const { chainId, orderHash, isNew } = entry.order;
    const key = `${chainId} ${orderHash}`;
    const before = queued.get(key);
    if (before === undefined && queued.size >= capacity) {
      missed.add(entry.slug);
      skip({ reason: "stream_overflow", path: entry.slug, concerns: orderHash });
      return;
    }
    const order = { ...entry.order, isNew: isNew || before?.order.isNew === true };
    queued.set(key, { ...entry, order });
    onArrival();
  }

  const listener: StreamListener = {
    onOrder: (slug, order) => put({ slug, order, attempts: 0 }),
    onSkipped: skip,
    onMissed: (slug) => void missed.add(slug),
  };
  return {
    listener,
    put,
    /** The oldest entry. */
    take(): QueuedOrder | null {
      const [first] = queued;
      if (first === undefined) return null;
      queued.delete(first[0]);
      return first[1];
    },
    /** Resolves when the queue is not empty, or when `signal` is aborted. */
    async waitForOrder(signal: AbortSignal): Promise<void> {
      if (queued.size > 0 || signal.aborted) return;
      await new Promise<void>((resolve) => {
        onArrival = () => {
          signal.removeEventListener("abort", onArrival);
          resolve();
        };
        signal.addEventListener("abort", onArrival);
      });
    },
    /** Missed collections and skipped entries since the last call. */
    takeMissed(): { missed: string[]; skipped: SkippedEntry[] } {
      const gaps = { missed: [...missed], skipped };
      missed.clear();
      skipped = [];
      return gaps;
    },
  };
}

type StreamQueue = ReturnType<typeof createStreamQueue>;
