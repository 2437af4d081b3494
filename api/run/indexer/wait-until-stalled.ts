import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "../../../projections/database.ts";
import { readIndexedBlocks } from "../../../projections/log/status.ts";
import { openHeadReader } from "../../work/chain/head.ts";
import type { ChainConfig } from "../config/config.ts";

const pollMs = 2_000;
/** Ponder's own retries of a block that a reorg took away go on for a minute; a fresh start takes seconds. */
const stalledAfterMs = 15_000;

/**
 * Settles, in words, when a Ponder that follows new blocks has stood still although its chain's head is further on.
 * Never settles otherwise. A chain that stands still itself freezes nothing.
 */
export async function waitUntilStalled(
  db: Database,
  { chainId }: ChainConfig,
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
    await delay(pollMs, undefined, { signal }).catch(() => {});
    const [{ head }, progress] = await Promise.all([
      readHead(),
      readIndexedBlocks(db, chainId).catch(() => null),
    ]);
    if (head === null || progress === null) continue;
    const indexed = progress.indexed.number;
    if (indexed !== since.indexed || indexed >= head.number) {
      since = { indexed, at: performance.now() };
    } else if (performance.now() - since.at > stalledAfterMs) {
      return `it is frozen at block ${indexed}, the chain is at ${head.number}`;
    }
  }
  return new Promise(() => {});
}
