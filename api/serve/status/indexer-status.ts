import type { Database } from "#projections/log/database.ts";
import { coreIndexer } from "#projections/log/sources.ts";
import { type IndexerState, readIndexerStates } from "#projections/log/progress.ts";
import { type Follower, trackFollower } from "./follower.ts";
import type { CatchingUp, FailingPart, Findings } from "./service-status.ts";

/** A lag of this many blocks counts as none. */
const closeEnoughBlocks = 5;

/**
 * Checks the indexers of a chain's added sources. One on its first pass is a warning; one that has caught up and does not
 * follow the chain any more is a fault. The core one is checked with the chain.
 */
export function openIndexerStatus(chainId: number, lateSeconds: number) {
  const followers = new Map<string, Follower>();
  const lagOf = (indexer: string, head: number, indexed: number, now: number) => {
    const follower = followers.get(indexer) ?? trackFollower(closeEnoughBlocks);
    followers.set(indexer, follower);
    return follower(head, indexed, now);
  };
  return async (
    db: Database | null,
    head: number | null,
    now: number,
  ): Promise<Findings<IndexerState[]>> => {
    const status = db === null ? [] : await readIndexerStates(db, chainId, head);
    const added = status.filter(({ indexer }) => indexer !== coreIndexer);
    const failing = added.flatMap(({ indexer, state, indexed }): FailingPart[] => {
      if (state === "catching_up" || head === null || indexed === null) return [];
      const { behind, seconds } = lagOf(indexer, head, indexed, now);
      if (seconds <= lateSeconds) return [];
      const message = `does not follow the chain: ${behind} blocks behind`;
      return [{ part: partOf(chainId, indexer), message, behind: { blocks: behind, seconds } }];
    });
    const warnings = added.flatMap((one) =>
      one.state === "catching_up" ? [warningOf(chainId, one)] : [],
    );
    return { status, failing, warnings };
  };
}

const partOf = (chainId: number, indexer: string): string => `chain ${chainId} indexer ${indexer}`;

function warningOf(
  chainId: number,
  { indexer, remainingBlocks: blocks, remainingSeconds: seconds }: IndexerState,
): CatchingUp {
  const message = blocks === null ? "is starting" : `is catching up: ${blocks} blocks remain`;
  const remaining = blocks === null ? null : { blocks, seconds };
  return { part: partOf(chainId, indexer), kind: "catching_up", message, remaining };
}
