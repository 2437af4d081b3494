import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../../projections/database.ts";
import { readIndexedBlocks } from "../../projections/log/status.ts";
import { openHeadReader } from "../chain/head.ts";
import type { ChainConfig } from "../config.ts";

const lookEveryMs = 5_000;
/** Both the chain and Ponder had this long to move. */
const frozenAfterMs = 30_000;

/** Names a Ponder that stands still while its chain's head moves on, and the moment it goes on again. */
export async function watchProgress(
  db: Database,
  { chainId, rpcUrls }: ChainConfig,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const readHead = openHeadReader({
    chainId,
    rpcUrls,
    timeoutMs: lookEveryMs,
    maxAgeMs: 0,
    staleBlocks: 0,
  });
  let since = { indexed: -1, head: -1, at: performance.now() };
  let frozen = false;
  while (!signal.aborted) {
    await delay(lookEveryMs, undefined, { signal }).catch(() => {});
    const [{ head }, progress] = await Promise.all([
      readHead(),
      readIndexedBlocks(db, chainId).catch(() => null),
    ]);
    if (head === null || progress === null || signal.aborted) continue;
    const indexed = progress.indexed.number;
    if (indexed !== since.indexed) {
      if (frozen) logger.info(`chain ${chainId} goes on: indexed up to block ${indexed}`);
      since = { indexed, head: head.number, at: performance.now() };
      frozen = false;
    } else if (!frozen && head.number > since.head && isLate(since.at) && indexed < head.number) {
      frozen = true;
      logger.error(
        `chain ${chainId} is frozen: indexed up to block ${indexed} for ${frozenAfterMs / 1000} s, the chain is at ${head.number}`,
      );
    }
  }
}

const isLate = (since: number): boolean => performance.now() - since > frozenAfterMs;
