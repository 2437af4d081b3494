import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { checkObservationBlocks } from "../../../projections/log/observation-check.ts";
import { type RecorderPass, recordChain } from "../../../projections/log/recording/recorder.ts";
import type { Recording } from "../../../projections/log/recording/recording.ts";
import { openSwitch } from "../../../projections/log/switches.ts";
import { restAfter } from "../background-share.ts";
import { sleep } from "../log-signal/back-off.ts";
import { createPolledSignal } from "../log-signal/polled-signal.ts";
import type { Signal } from "../log-signal/signal.ts";

/** Wait while the projections have to catch up before more of a backlog is recorded. */
const BACKLOG_WAIT_MS = 100;
/** Wait before the next pass while Ponder and the chain disagree, to limit RPC requests. */
const HELD_MS = 500;
const RETRY_MS = 1_000;
/** Interval of the reorg check of blocks that Ponder does not record. */
const OBSERVATION_CHECK_MS = 2_000;

type RecorderOptions = {
  db: Database;
  recording: Omit<Recording, "now">;
  /** Blocks after which a block is final; null: another recorder of the chain checks the blocks of observations. */
  finalityBlocks: number | null;
  /** Of an added source, whose history is in nobody's way. Absent: all at once. */
  background?: {
    /** Whether more of the backlog may be recorded now. */
    mayRecord: () => Promise<boolean>;
    /** Whether the chain is served meanwhile: then a rest follows each part of the backlog. */
    isServed: () => Promise<boolean>;
  };
  changeSignal: Signal;
  logger: Logger;
  signal: AbortSignal;
  /** Whether this process still holds the role's lock. */
  holds: () => boolean | Promise<boolean>;
  onAppended: (facts: number) => void;
};

/** Records one indexer of a chain until `signal` is aborted. A failure is logged and retried: waiting loses nothing. */
export async function runRecorder(options: RecorderOptions): Promise<void> {
  const { signal, logger, holds } = options;
  const { chainId, indexer } = options.recording;
  const { finalityBlocks } = options;
  const checkObservations =
    finalityBlocks === null ? () => {} : createObservationCheck({ ...options, finalityBlocks });
  const isPaused = openSwitch(options.db, "recording");
  const polled = createPolledSignal(options.changeSignal);
  let held = 0;
  while (!signal.aborted && (await holds())) {
    const startedAt = performance.now();
    const pass = await tryPass(options, isPaused);
    if (pass.appended > 0) {
      polled.found();
      options.onAppended(pass.appended);
    }
    if (pass.held > 0 && held === 0) {
      logger.warn(
        { chainId, indexer, blocks: pass.held },
        "blocks held until Ponder and the chain agree",
      );
    }
    held = pass.held;
    if (!pass.isPaused) checkObservations();
    await (pass.more ? rest(options, startedAt) : polled.wait(signal, waitMs(pass)));
  }
}

/** As long as recording and applying a part of the backlog took, times what leaves the processors to readers. */
async function rest({ background, signal }: RecorderOptions, startedAt: number): Promise<void> {
  if (background === undefined) return;
  while (!signal.aborted && !(await background.mayRecord().catch(() => false)))
    await sleep(BACKLOG_WAIT_MS, signal);
  const workedMs = performance.now() - startedAt;
  if (await background.isServed().catch(() => true)) await sleep(restAfter(workedMs), signal);
}

/** Absent: until there is something new. */
function waitMs({ failed, held, isWaiting }: PassOutcome): number | undefined {
  if (failed) return RETRY_MS;
  if (isWaiting) return BACKLOG_WAIT_MS;
  return held > 0 ? HELD_MS : undefined;
}

type PassOutcome = RecorderPass & { failed: boolean; isPaused: boolean; isWaiting: boolean };

async function tryPass(
  options: RecorderOptions,
  isPaused: () => Promise<boolean>,
): Promise<PassOutcome> {
  const { db, recording, logger, background } = options;
  const nothing = {
    appended: 0,
    more: false,
    held: 0,
    failed: false,
    isPaused: false,
    isWaiting: false,
  };
  try {
    if (await isPaused()) return { ...nothing, isPaused: true };
    if (background !== undefined && !(await background.mayRecord()))
      return { ...nothing, isWaiting: true };
    return { ...nothing, ...(await recordChain(db, { ...recording, now: () => new Date() })) };
  } catch (error) {
    const { chainId, indexer } = recording;
    logger.warn({ chainId, indexer, err: error }, "recording failed, retrying");
    return { ...nothing, failed: true };
  }
}

/** Checks blocks of observations for reorgs concurrently with the passes: a slow RPC delays no event. */
function createObservationCheck(options: RecorderOptions & { finalityBlocks: number }): () => void {
  const { db, recording, finalityBlocks, logger, signal, onAppended } = options;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let isChecking = false;
  const check = async () => {
    isChecking = true;
    checkedAt = performance.now();
    try {
      const current = { ...recording, now: () => new Date() };
      const changed = await checkObservationBlocks(db, current, finalityBlocks);
      if (changed > 0) onAppended(changed);
    } catch (error) {
      const { chainId } = recording;
      // The connection was closed with the role.
      if (signal.aborted) return;
      logger.warn({ chainId, err: error }, "observation reorg check failed");
    } finally {
      isChecking = false;
    }
  };
  return () => {
    if (isChecking || performance.now() - checkedAt < OBSERVATION_CHECK_MS) return;
    void check();
  };
}
