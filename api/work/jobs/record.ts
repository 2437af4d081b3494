import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { reviewBasis } from "../../../projections/log/basis-review.ts";
import {
  type RecorderPass,
  type Recording,
  recordChain,
} from "../../../projections/log/recorder.ts";
import { openSwitch } from "../../../projections/log/switches.ts";
import type { Wake } from "../log-signal/wake.ts";

const POLL_MS = 250;
/** Pause before the next look while Ponder and the chain disagree, so that the chain is not asked without end. */
const HELD_MS = 500;
const RETRY_MS = 1_000;
/** The chain is asked this often about blocks that Ponder says nothing of. */
const REVIEW_MS = 2_000;

type RecorderOptions = {
  db: Database;
  recording: Omit<Recording, "now">;
  /** Blocks after which the chain takes nothing back. */
  finalityBlocks: number;
  wake: Wake;
  logger: Logger;
  signal: AbortSignal;
  /** Whether the work is still this process's. */
  holds: () => boolean | Promise<boolean>;
  onAppended: (facts: number) => void;
  /** Called before each look, to follow a changed Ponder schema. */
  beforePass: () => Promise<void>;
};

/** Records one chain until told to stop. A failure is logged and tried again: nothing is lost by waiting. */
export async function keepRecording(options: RecorderOptions): Promise<void> {
  const { signal, wake, logger, holds } = options;
  const { chainId } = options.recording;
  const review = openReview(options);
  const isPaused = openSwitch(options.db, "recording");
  let held = 0;
  while (!signal.aborted && (await holds())) {
    const pass = await attempt(options, isPaused);
    if (pass.appended > 0) options.onAppended(pass.appended);
    if (pass.held > 0 && held === 0) {
      logger.warn({ chainId, held: pass.held }, "blocks wait until Ponder and the chain agree");
    }
    held = pass.held;
    if (!pass.isPaused) review();
    if (!pass.more) await wake.wait(pause(pass), signal);
  }
}

function pause({ failed, held }: Attempt): number {
  if (failed) return RETRY_MS;
  return held > 0 ? HELD_MS : POLL_MS;
}

type Attempt = RecorderPass & { failed: boolean; isPaused: boolean };

async function attempt(
  options: RecorderOptions,
  isPaused: () => Promise<boolean>,
): Promise<Attempt> {
  const { db, recording, logger } = options;
  const nothing = { appended: 0, more: false, held: 0, failed: false, isPaused: false };
  try {
    if (await isPaused()) return { ...nothing, isPaused: true };
    await options.beforePass();
    return { ...nothing, ...(await recordChain(db, { ...recording, now: () => new Date() })) };
  } catch (error) {
    logger.warn({ chainId: recording.chainId, err: error }, "recording failed, trying again");
    return { ...nothing, failed: true };
  }
}

/** Now and then asks the chain about the blocks of observations, beside the passes: a slow chain delays no event. */
function openReview(options: RecorderOptions): () => void {
  const { db, recording, finalityBlocks, logger, signal, onAppended } = options;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isLooking = false;
  const look = async () => {
    isLooking = true;
    lookedAt = performance.now();
    try {
      const looking = { ...recording, now: () => new Date() };
      const changed = await reviewBasis(db, looking, finalityBlocks);
      if (changed > 0) onAppended(changed);
    } catch (error) {
      const { chainId } = recording;
      // Its connection went with the role.
      if (signal.aborted) return;
      logger.warn({ chainId, err: error }, "blocks of observations could not be asked about");
    } finally {
      isLooking = false;
    }
  };
  return () => {
    if (isLooking || performance.now() - lookedAt < REVIEW_MS) return;
    void look();
  };
}
