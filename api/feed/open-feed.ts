import type { Logger } from "pino";
import { openTurns } from "#jobs/runner/limits.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import { type EventId, idAfterPosition, isAfter } from "#projections/activity/feed-events.ts";
import type { FeedSource } from "#projections/activity/read-feed.ts";
import { type EventPredicate, type FrameEvent, frameEvent } from "./event.ts";
import {
  awaitPart,
  type FeedSnapshots,
  followLog,
  type PartReader,
  type ReplayBuffer,
  singleSnapshots,
} from "./follow-log.ts";
import {
  batchOf,
  type EventBatch,
  eventIdOf,
  type FeedLimits,
  feedLimits,
  openSubscriber,
  openSubscribers,
  type SseConnection,
  type StreamOpener,
  type Subscriber,
} from "./subscribers.ts";

type Subscription = {
  readonly connection: SseConnection;
  readonly matches: EventPredicate;
  /** Resume after this event; undefined: start with new events. */
  readonly from: EventId | undefined;
  /** Positions that may be read from the log for it; older events are left out. Absent: all. */
  readonly mostBehind?: bigint | undefined;
};

/** A live feed of some chains for a limited number of subscribers. */
export type Feed = {
  readonly source: FeedSource;
  hasRoom(opener: StreamOpener): boolean;
  /** Serves a subscriber until it disconnects, is disconnected or the feed stops. */
  subscribe(subscription: Subscription): void;
  /** Call this when the projections have advanced. */
  notify(): void;
  /** Current subscribers, and how many were disconnected so far for being too slow. */
  figures(): { readers: number; cut: number };
  /** Ends every stream and accepts no more. */
  stop(): Promise<void>;
};

type FeedOptions = {
  source: FeedSource;
  /** Where the log is read; by default the source's database. */
  snapshots?: FeedSnapshots;
  /** Default: the names of `/v1`. */
  frame?: FrameEvent;
  logger: Logger;
  limits?: Partial<FeedLimits>;
};

/** Subscribers that may read the log individually at the same time. */
const maxConcurrentReads = 3;
/** Clients reconnect after one to five seconds, so that after a restart they do not all come at once. */
const retryMs = { least: 1_000, span: 4_000 };
const maintenanceMs = 1_000;

export function openFeed(options: FeedOptions): Feed {
  const { source, frame = frameEvent, logger, limits: given } = options;
  const { snapshots = singleSnapshots(source.db) } = options;
  const limits = { ...feedLimits, ...given };
  const stopping = new AbortController();
  const { signal } = stopping;
  const wake = createSignal();
  const turns = openTurns({ atOnce: maxConcurrentReads });
  const subscribers = openSubscribers(limits);
  const { pollMs, bufferBytes } = limits;
  const follower = followLog({
    source,
    snapshots,
    frame,
    wake,
    pollMs,
    bufferBytes,
    logger,
    signal,
    hasSubscribers: () => subscribers.size > 0,
    onBatch: subscribers.broadcast,
  });
  const maintenance = setInterval(
    subscribers.maintain,
    Math.min(maintenanceMs, limits.heartbeatMs / 4),
  );

  const serve = async ({ connection, matches, from, mostBehind }: Subscription) => {
    const buffer = await follower.buffer();
    if (connection.isClosed) return;
    const oldest = mostBehind === undefined ? 0n : buffer.upTo - mostBehind;
    const isTooOld = from !== undefined && from.position < oldest;
    const cursor = isTooOld ? idAfterPosition(oldest) : (from ?? idAfterPosition(buffer.upTo));
    const subscriber = openSubscriber({
      connection,
      cursor,
      matches,
      now: () => performance.now(),
    });
    subscribers.add(subscriber);
    subscriber.sendGreeting(retryMs.least + Math.floor(Math.random() * retryMs.span));
    await catchUp(subscriber, buffer, {
      source,
      snapshots,
      frame,
      turns,
      onCaughtUp: () => subscribers.goLive(subscriber),
    });
  };
  return {
    source,
    hasRoom: (opener) => !signal.aborted && subscribers.hasRoom(opener),
    subscribe(subscription) {
      subscribers.reserve(subscription.connection);
      serve(subscription).catch((error: unknown) => {
        if (!signal.aborted) logger.warn({ err: error }, "feed subscriber failed");
        subscription.connection.end();
      });
    },
    notify: () => wake.notify(),
    figures: () => ({ readers: subscribers.size, cut: subscribers.disconnected }),
    async stop() {
      stopping.abort();
      clearInterval(maintenance);
      subscribers.closeAll();
      await follower.stopped;
    },
  };
}

type Turns = ReturnType<typeof openTurns>;
type Reading = PartReader & { frame: FrameEvent };

/** Size of one part from the buffer. */
const partBytes = 256 * 1_024;

/**
 * Sends a subscriber everything up to the end of the replay buffer, at its own pace: older events are read from the
 * log. `onCaughtUp` is called synchronously when nothing is left.
 */
async function catchUp(
  subscriber: Subscriber,
  buffer: ReplayBuffer,
  { onCaughtUp, turns, ...reading }: Reading & { turns: Turns; onCaughtUp: () => void },
): Promise<void> {
  while (!subscriber.connection.isClosed) {
    const next = buffer.after(subscriber.cursor, partBytes);
    const last = next?.at(-1);
    if (next === undefined)
      subscriber.send(await turns.run("", () => readOlder(subscriber, buffer, reading)));
    else if (last === undefined) {
      onCaughtUp();
      return;
    } else subscriber.send(batchOf(next, eventIdOf(last.event)));
    await subscriber.connection.drained();
  }
}

async function readOlder(
  subscriber: Subscriber,
  { upTo }: ReplayBuffer,
  { frame, ...reader }: Reading,
): Promise<EventBatch> {
  const { cursor, matches } = subscriber;
  const after = cursor.position - 1n;
  const part = await awaitPart(reader, after, upTo);
  const chosen = part.events.filter((event) => isAfter(event, cursor) && matches(event));
  return batchOf(chosen.map(frame), idAfterPosition(part.reached));
}
