import type { Database } from "../../../projections/database.ts";
import { readIndexedBlocks } from "../../../projections/log/status.ts";
import { openHeadReader } from "../../background/chain/fetch-head.ts";
import { sleep } from "../../background/log-signal/back-off.ts";
import type { ChainConfig } from "../config/chain-config.ts";

const pollMs = 2_000;
/** Ponder retries a block that a reorg removed for a minute; a restart takes seconds. */
const stalledAfterMs = 15_000;

/**
 * Resolves with a reason when Ponder has not advanced for 15 s although the chain's head is ahead of it. Never resolves
 * otherwise: a chain without new blocks is not a stall.
 */
export async function waitUntilStalled(
  db: Database,
  { chainId, indexer }: Pick<ChainConfig, "chainId"> & { indexer: string },
  rpcUrls: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const readHead = openHeadReader({
    chainId,
    rpcUrls,
    timeoutMs: pollMs,
    maxAgeMs: 0,
    staleBlocks: 0,
  });
  let since = { indexed: -1, at: performance.now() };
  while (!signal.aborted) {
    await sleep(pollMs, signal);
    const [{ head }, progress] = await Promise.all([
      readHead(),
      readIndexedBlocks(db, chainId, indexer).catch(() => null),
    ]);
    if (head === null || progress === null) continue;
    const indexed = progress.indexed.number;
    if (indexed !== since.indexed || indexed >= head.number) {
      since = { indexed, at: performance.now() };
    } else if (performance.now() - since.at > stalledAfterMs) {
      return `Ponder stalled at block ${indexed}, chain head is ${head.number}`;
    }
  }
  return new Promise(() => {});
}
