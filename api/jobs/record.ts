import type { Logger } from "pino";
import type { Database } from "../../projections/database.ts";
import type { CanonicalHashes } from "../../projections/log/reconcile.ts";
import { type RecorderPass, recordChain } from "../../projections/log/recorder.ts";
import type { Wake } from "../roles/wake.ts";

const POLL_MS = 250;
/** Pause before the next look while Ponder and the chain disagree, so that the chain is not asked without end. */
const HELD_MS = 500;
const RETRY_MS = 1_000;

type RecorderOptions = {
  db: Database;
  chainId: number;
  canonicalHashes: CanonicalHashes;
  wake: Wake;
  logger: Logger;
  signal: AbortSignal;
  onAppended: (facts: number) => void;
  /** Called before each look, to follow a changed Ponder schema. */
  beforePass: () => Promise<void>;
};

/** Records one chain until told to stop. A failure is logged and tried again: nothing is lost by waiting. */
export async function keepRecording(options: RecorderOptions): Promise<void> {
  const { signal, wake, logger, chainId } = options;
  let held = 0;
  while (!signal.aborted) {
    const pass = await attempt(options);
    if (pass.appended > 0) options.onAppended(pass.appended);
    if (pass.held > 0 && held === 0) {
      logger.warn({ chainId, held: pass.held }, "blocks wait until Ponder and the chain agree");
    }
    held = pass.held;
    if (!pass.more) await wake.wait(pause(pass), signal);
  }
}

function pause({ failed, held }: Attempt): number {
  if (failed) return RETRY_MS;
  return held > 0 ? HELD_MS : POLL_MS;
}

type Attempt = RecorderPass & { failed: boolean };

async function attempt(options: RecorderOptions): Promise<Attempt> {
  const { db, chainId, canonicalHashes, logger } = options;
  try {
    await options.beforePass();
    return {
      ...(await recordChain(db, chainId, canonicalHashes, () => new Date())),
      failed: false,
    };
  } catch (error) {
    logger.warn({ chainId, err: error }, "recording failed, trying again");
    return { appended: 0, more: false, held: 0, failed: true };
  }
}
