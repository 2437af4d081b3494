import type { Database } from "../../../projections/database.ts";
import { coreIndexer } from "../../../projections/log/indexer-id.ts";
import { hasCaughtUp } from "../../../projections/log/indexer-progress.ts";
import { backgroundShare, restAfter } from "../../background/background-share.ts";
import { sleep } from "../../background/log-signal/back-off.ts";
import type { PonderProcess } from "./ponder-process.ts";

/** Of each turn. So short that a request which meets it is hardly slower. */
const runMs = 5;
const pollMs = 2_000;

/**
 * Lets Ponder run for a share of the time only, from when the chain is served until Ponder follows new blocks. A nice
 * value alone does not do: Ponder still takes the second processor from those who answer, with its caches.
 */
export async function yieldToReaders(
  db: Database,
  chainId: number,
  ponder: Pick<PonderProcess, "pause" | "resume">,
  isLive: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  if (backgroundShare >= 1) return;
  const isServed = () => hasCaughtUp(db, { chainId, indexer: coreIndexer }).catch(() => false);
  while (!signal.aborted && !(await isServed())) await sleep(pollMs, signal);
  while (!signal.aborted && !isLive()) {
    ponder.pause();
    await sleep(restAfter(runMs), signal);
    ponder.resume();
    await sleep(runMs, signal);
  }
}
