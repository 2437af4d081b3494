import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { sleep } from "#jobs/runner/back-off.ts";
import type { Job } from "#jobs/runner/job.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import type { Signal } from "#jobs/runner/signals.ts";
import { type EventId, idAfterPosition, isAfter } from "#projections/activity/feed-events.ts";
import {
  type FeedSlice,
  type FeedSource,
  readFeed,
  readFeedPosition,
} from "#projections/activity/read-feed.ts";
import { inSnapshot } from "#projections/engine/snapshot.ts";
import type { Database } from "#projections/log/database.ts";
import type { PositionedReads } from "../http/reads/positioned-reads.ts";
import type { Framed, FrameEvent } from "./event.ts";
import { batchesOf, type EventBatch } from "./subscribers.ts";

/** Positions before the newest one that a new buffer starts with, for clients that reconnect after a restart. */
const initialPositions = 2_000n;
/** Readers wait. */
const retry = { firstMs: 1_000, mostMs: 1_000 };
/** Between two batches, so that events of one block are sent together. */
const minPauseMs = 10;

type LogFollower = {
  /** The replay buffer, once it is filled. */
  buffer(): Promise<ReplayBuffer>;
  /** Settles when the follower has stopped. */
  readonly stopped: Promise<void>;
};

type FollowOptions = PartReader & {
  frame: FrameEvent;
  wake: Signal;
  pollMs: number;
  bufferBytes: number;
  /** Without subscribers the log is not read. */
  hasSubscribers: () => boolean;
  /** Called with each new batch, one after the other. */
  onBatch: (batch: EventBatch) => Promise<void>;
  logger: Logger;
  signal: AbortSignal;
};

/** Reads the log once for all subscribers, up to the projections' position, and no faster than they are served. */
export function followLog(options: FollowOptions): LogFollower {
  const { wake: wakesOn, pollMs: every, logger, signal } = options;
  let opened: Promise<ReplayBuffer> | undefined;

  const buffer = () => {
    opened ??= openBuffer(options).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const step = async () => {
    if (!options.hasSubscribers()) opened = undefined;
    else if (opened !== undefined) await advance(await opened, options);
    return undefined;
  };
  const following: Job = { name: "feed", every, wakesOn, retry, run: step };
  return { buffer, stopped: runJobs(following, { logger, signal }) };
}

async function openBuffer(options: FollowOptions): Promise<ReplayBuffer> {
  const { snapshots, source, frame, bufferBytes } = options;
  const position = await snapshots((db) => readFeedPosition({ ...source, db }));
  const begin = position > initialPositions ? position - initialPositions : 0n;
  const buffer = openReplayBuffer(begin, bufferBytes);
  while (buffer.upTo < position) {
    const { events, reached } = await awaitPart(options, buffer.upTo, position);
    buffer.add(events.map(frame), reached);
  }
  return buffer;
}

/** Broadcasts everything up to the projections' position. */
async function advance(buffer: ReplayBuffer, options: FollowOptions): Promise<void> {
  const { frame, signal } = options;
  while (!signal.aborted) {
    const { events, reached } = await readPart(options, buffer.upTo);
    if (reached <= buffer.upTo) return;
    const framed = events.map(frame);
    buffer.add(framed, reached);
    for (const batch of batchesOf(framed, idAfterPosition(reached)))
      await broadcast(batch, options);
  }
}

/** Waits as long as the batch took to send: clients can drain, and the process can do other work. */
async function broadcast(batch: EventBatch, { onBatch, signal }: FollowOptions): Promise<void> {
  const begun = performance.now();
  await onBatch(batch);
  const pauseMs = Math.max(minPauseMs, performance.now() - begun);
  await sleep(pauseMs, signal);
}

/** The newest events of the feed, in memory. */
export type ReplayBuffer = {
  /** The position up to which all events were added. */
  readonly upTo: bigint;
  add(events: readonly Framed[], upTo: bigint): void;
  /** The next events after an event id, about `mostBytes` of them; undefined when the buffer starts later. */
  after(place: EventId, mostBytes: number): readonly Framed[] | undefined;
};

/** Starts after a position, and drops its oldest events beyond `mostBytes`. */
function openReplayBuffer(position: bigint, mostBytes: number): ReplayBuffer {
  let addedUpTo = position;
  let begin = idAfterPosition(position);
  let held: Framed[] = [];
  let bytes = 0;

  /** Trims many events at once, since each trim copies the array. */
  const trim = () => {
    if (bytes <= mostBytes) return;
    let cut = 0;
    while (cut < held.length && bytes > mostBytes * keptShare) {
      bytes -= held[cut]?.bytes.length ?? 0;
      cut += 1;
    }
    const last = held[cut - 1];
    if (last !== undefined) begin = last.event;
    held = held.slice(cut);
  };

  return {
    get upTo() {
      return addedUpTo;
    },
    add(events, upTo) {
      for (const one of events) {
        held.push(one);
        bytes += one.bytes.length;
      }
      addedUpTo = upTo;
      trim();
    },
    after(place, most) {
      if (isAfter(begin, place)) return undefined;
      const first = firstAfter(held, place);
      let end = first;
      for (let size = 0; end < held.length && size < most; end += 1) {
        size += held[end]?.bytes.length ?? 0;
      }
      return held.slice(first, end);
    },
  };
}

const keptShare = 0.75;

/** Index of the first event after an event id. */
function firstAfter(held: readonly Framed[], place: EventId): number {
  let [low, high] = [0, held.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const one = held[middle];
    if (one !== undefined && isAfter(one.event, place)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Reads for the feed, in one snapshot of one database: a position that was read from one replica says nothing of what
 * another one has.
 */
export type FeedSnapshots = <Result>(read: (db: Database) => Promise<Result>) => Promise<Result>;

export const feedSnapshots =
  (reads: PositionedReads): FeedSnapshots =>
  (read) =>
    reads.inSnapshot({ loadClass: "lists", atLeast: 0n }, ({ db }) => read(db));

export const singleSnapshots =
  (db: Database): FeedSnapshots =>
  (read) =>
    inSnapshot(db, { projections: [] }, (snapshot) => read(snapshot.db));

export type PartReader = { readonly source: FeedSource; readonly snapshots: FeedSnapshots };

/** Positions of one part. */
const partPositions = 1_000;

/** The next part up to the projections' position, as far as the database that is read has it, and to `upTo` at most. */
function readPart(
  { source, snapshots }: PartReader,
  after: bigint,
  end?: bigint,
  most = partPositions,
): Promise<FeedSlice> {
  return snapshots(async (db) => {
    const position = await readFeedPosition({ ...source, db });
    const upTo = end !== undefined && end < position ? end : position;
    if (upTo <= after) return { events: [], reached: after };
    return readFeed({ ...source, db }, { after, upTo, most });
  });
}

const behindMs = 50;

/** The same where another database has it: waits until this one has, too. */
export async function awaitPart(
  reader: PartReader,
  after: bigint,
  upTo: bigint,
  most?: number,
): Promise<FeedSlice> {
  for (;;) {
    const part = await readPart(reader, after, upTo, most);
    if (part.reached > after || upTo <= after) return part;
    await delay(behindMs);
  }
}
