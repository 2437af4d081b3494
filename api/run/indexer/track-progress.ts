import type { Database } from "#projections/log/database.ts";
import type { IndexerId } from "#projections/log/sources.ts";
import { readIndexerProgress, storeCaughtUp, storeRate } from "#projections/log/progress.ts";
import { sleep } from "#jobs/runner/back-off.ts";

const pollMs = 2_000;
/** Share of the newest measurement in the rate. */
const weight = 0.2;

/**
 * Measures how fast an indexer's first pass gets on, for the remaining time, until it follows new blocks and the log
 * holds what it has indexed: then it has caught up. Until the signal at the latest.
 */
export async function trackProgress(
  db: Database,
  id: IndexerId,
  isLive: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const measure = openRate();
  const update = async (): Promise<boolean> => {
    const progress = await readIndexerProgress(db, id);
    if (progress === null || progress.recorded < 0) return false;
    if (progress.isCaughtUp) return true;
    const rate = measure(progress.recorded);
    if (rate !== undefined) await storeRate(db, id, rate);
    if (isLive() && progress.isRecorded) await storeCaughtUp(db, id);
    return false;
  };
  while (!signal.aborted) {
    // Without the database there is nothing to measure.
    if (await update().catch(() => false)) return;
    await sleep(pollMs, signal);
  }
}

/** Blocks per second between one height and the next, smoothed. */
function openRate(): (height: number) => number | undefined {
  let last: { height: number; at: number } | undefined;
  let rate: number | undefined;
  return (height) => {
    const at = performance.now();
    if (last !== undefined) {
      const measured = Math.max(0, height - last.height) / ((at - last.at) / 1_000);
      rate = rate === undefined ? measured : rate + weight * (measured - rate);
    }
    last = { height, at };
    return rate;
  };
}
