import type { Logger } from "pino";
import { idAfterPosition } from "#projections/activity/feed-events.ts";
import { readFeedPosition } from "#projections/activity/read-feed.ts";
import { sleep } from "#jobs/runner/back-off.ts";
import type { Signal } from "#jobs/runner/signals.ts";
import { awaitPart, type PartReader, readPart } from "./feed-snapshots.ts";
import type { FrameEvent } from "./frame.ts";
import { openReplayBuffer, type ReplayBuffer } from "./replay-buffer.ts";
import { type Batch, batchesOf } from "./subscriber.ts";

/** Positions before the newest one that a new buffer starts with, for clients that reconnect after a restart. */
const initialPositions = 2_000n;
const retryMs = 1_000;
/** Between two batches, so that events of one block are sent together. */
const minPauseMs = 10;

export type Follower = {
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
  onBatch: (batch: Batch) => Promise<void>;
  logger: Logger;
  signal: AbortSignal;
};

/** Reads the log once for all subscribers, up to the projections' position, and no faster than they are served. */
export function followLog(options: FollowOptions): Follower {
  const { wake, pollMs, logger, signal } = options;
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
  };
  const follow = async () => {
    while (!signal.aborted) {
      await wake.wait(pollMs, signal);
      if (signal.aborted) return;
      try {
        await step();
      } catch (error) {
        logger.warn({ err: error }, "feed cannot read the log, retrying");
        await sleep(retryMs, signal);
      }
    }
  };
  return { buffer, stopped: follow() };
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
async function broadcast(batch: Batch, { onBatch, signal }: FollowOptions): Promise<void> {
  const begun = performance.now();
  await onBatch(batch);
  const pauseMs = Math.max(minPauseMs, performance.now() - begun);
  await sleep(pauseMs, signal);
}
