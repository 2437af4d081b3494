import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { placeBehind } from "../../../projections/reads/feed/event.ts";
import { type FeedSource, readFeed } from "../../../projections/reads/feed/read-feed.ts";
import { readToldPosition } from "../../../projections/reads/feed/read-told-position.ts";
import type { Wake } from "../../work/log-signal/wake.ts";
import { frameEvent } from "./frame.ts";
import { type Batch, batchesOf } from "./reader.ts";
import { openTape, type Tape } from "./tape.ts";

const partPositions = 1_000;
/** The stretch before the newest position with which a tape begins: readers come back there after a restart. */
const memoryPositions = 2_000n;
const afterFaultMs = 1_000;
/** Between two batches, so that what comes together goes out together. */
const leastPauseMs = 10;

export type Follower = {
  /** The tape, once it begins. */
  tape(): Promise<Tape>;
  /** Settles when nothing is followed any more. */
  readonly over: Promise<void>;
};

type Options = {
  source: FeedSource;
  wake: Wake;
  lookMs: number;
  tapeBytes: number;
  /** Whether somebody reads: otherwise the log is not followed. */
  isRead: () => boolean;
  /** Called with what was put on the tape, one batch after the other. */
  onBatch: (batch: Batch) => Promise<void>;
  logger: Logger;
  signal: AbortSignal;
};

/** Reads the log once for all readers, as far as the projections are, and no faster than readers are served. */
export function followLog(options: Options): Follower {
  const { source, wake, lookMs, logger, signal } = options;
  let opening: Promise<Tape> | undefined;

  const tape = () => {
    opening ??= beginTape(source, options.tapeBytes).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  const turn = async () => {
    if (!options.isRead()) opening = undefined;
    else if (opening !== undefined) await advance(await opening, options);
  };
  const follow = async () => {
    while (!signal.aborted) {
      await wake.wait(lookMs, signal);
      if (signal.aborted) return;
      try {
        await turn();
      } catch (error) {
        logger.warn({ err: error }, "the feed cannot read the log, trying again");
        await delay(afterFaultMs, undefined, { signal }).catch(() => undefined);
      }
    }
  };
  return { tape, over: follow() };
}

async function beginTape(source: FeedSource, tapeBytes: number): Promise<Tape> {
  const position = await readToldPosition(source.db);
  const begin = position > memoryPositions ? position - memoryPositions : 0n;
  const tape = openTape(begin, tapeBytes);
  while (tape.told < position) {
    const { events, reached } = await readPart(source, tape.told, position);
    tape.add(events.map(frameEvent), reached);
  }
  return tape;
}

/** Tells everything up to where the projections are. */
async function advance(tape: Tape, options: Options): Promise<void> {
  const { source, signal } = options;
  const position = await readToldPosition(source.db);
  while (tape.told < position && !signal.aborted) {
    const { events, reached } = await readPart(source, tape.told, position);
    const framed = events.map(frameEvent);
    tape.add(framed, reached);
    for (const batch of batchesOf(framed, placeBehind(reached))) await tell(batch, options);
  }
}

/** The next batch waits for as long as this one took: readers have time to take it, and the process for other work. */
async function tell(batch: Batch, { onBatch, signal }: Options): Promise<void> {
  const begun = performance.now();
  await onBatch(batch);
  const pauseMs = Math.max(leastPauseMs, performance.now() - begun);
  await delay(pauseMs, undefined, { signal }).catch(() => undefined);
}

const readPart = (source: FeedSource, after: bigint, upTo: bigint) =>
  readFeed(source, { after, upTo, most: partPositions });
