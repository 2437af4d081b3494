import { availableParallelism } from "node:os";
import type { Logger } from "pino";
import { checkObservationBlocks } from "#projections/log/audit.ts";
import type { Database } from "#projections/log/database.ts";
import { openSwitch } from "#projections/log/operators.ts";
import { type Recording, recordChain } from "#projections/log/recording/recorder.ts";
import type { Job, JobOutcome } from "../runner/job.ts";
import { createPolledSignal, type PolledSignal, type Signal } from "../runner/signals.ts";

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
  /** Whether this process still holds the role's lock. */
  holds: () => boolean | Promise<boolean>;
  onAppended: (facts: number) => void;
};

/** Records one indexer of a chain, and checks the blocks of observations. Waiting loses nothing. */
export function recording(options: RecorderOptions): Job[] {
  const { finalityBlocks } = options;
  const isPaused = openSwitch(options.db, "recording");
  const recorder = recorderJob(options, isPaused);
  if (finalityBlocks === null) return [recorder];
  return [recorder, observationCheck({ ...options, finalityBlocks }, isPaused)];
}

function recorderJob(options: RecorderOptions, isPaused: () => Promise<boolean>): Job {
  const { chainId, indexer } = options.recording;
  const polled = createPolledSignal(options.changeSignal);
  const state: RecorderState = { held: 0, begunAt: null, restUntil: 0 };
  return {
    name: "recording",
    about: { chainId, indexer },
    wakesOn: polled,
    retry: { firstMs: RETRY_MS, mostMs: RETRY_MS, isWoken: true },
    async run() {
      if (!(await options.holds())) return "ended";
      if (await isPaused()) return undefined;
      return (await waitForReaders(options, state)) ?? (await recordPass(options, state, polled));
    },
  };
}

type RecorderState = {
  /** Blocks held after the last pass. */
  held: number;
  /** When the part of a backlog began after which the next one rests (performance.now); null: there was none. */
  begunAt: number | null;
  restUntil: number;
};

/**
 * Milliseconds until a source's history may go on: once the projections have caught up, as long as recording and applying
 * its last part took, times what leaves the processors to readers. Null: now.
 */
async function waitForReaders(
  { background }: RecorderOptions,
  state: RecorderState,
): Promise<number | null> {
  if (background === undefined) return null;
  if (!(await background.mayRecord())) return BACKLOG_WAIT_MS;
  const now = performance.now();
  if (state.begunAt !== null) {
    const workedMs = now - state.begunAt;
    state.begunAt = null;
    if (await background.isServed().catch(() => true)) state.restUntil = now + restAfter(workedMs);
  }
  return now < state.restUntil ? state.restUntil - now : null;
}

async function recordPass(
  options: RecorderOptions,
  state: RecorderState,
  polled: PolledSignal,
): Promise<JobOutcome | undefined> {
  const { db, recording, background, logger } = options;
  const { chainId, indexer } = recording;
  const begunAt = performance.now();
  const pass = await recordChain(db, { ...recording, now: () => new Date() });
  if (pass.appended > 0) {
    polled.found();
    options.onAppended(pass.appended);
  }
  if (pass.held > 0 && state.held === 0) {
    const about = { chainId, indexer, blocks: pass.held };
    logger.warn(about, "blocks held until Ponder and the chain agree");
  }
  state.held = pass.held;
  if (!pass.more) return pass.held > 0 ? HELD_MS : undefined;
  if (background !== undefined) state.begunAt = begunAt;
  return "more";
}

/** Checks blocks of observations for reorgs beside the passes: a slow RPC delays no event. */
function observationCheck(
  {
    db,
    recording,
    finalityBlocks,
    holds,
    onAppended,
  }: RecorderOptions & { finalityBlocks: number },
  isPaused: () => Promise<boolean>,
): Job {
  return {
    name: "observation check",
    about: { chainId: recording.chainId },
    every: OBSERVATION_CHECK_MS,
    async run() {
      if (!(await holds())) return "ended";
      if (await isPaused()) return undefined;
      const current = { ...recording, now: () => new Date() };
      const changed = await checkObservationBlocks(db, current, finalityBlocks);
      if (changed > 0) onAppended(changed);
      return undefined;
    },
  };
}

/** Part of the machine's processors. */
const share = 0.1;

/**
 * Part of the time that one thread which works on an added source's history may run while readers are served, so that
 * it takes a tenth of the processors: 0.2 with two, all of it from ten on.
 */
const backgroundShare = Math.min(1, share * availableParallelism());

/** How long to rest after so many milliseconds of work. */
const restAfter = (workedMs: number): number => workedMs * (1 / backgroundShare - 1);
