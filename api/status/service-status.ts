import type { HeadFault } from "#jobs/chain/fetch-head.ts";
import type { ExcludedFacts } from "#projections/engine/quarantine.ts";
import type { HistoryState } from "#projections/log/chain-state.ts";
import type { IndexerState } from "#projections/log/progress.ts";

/** A part that makes the service not ready. */
export type FailingPart = {
  readonly part: string;
  readonly message: string;
  readonly behind?: { blocks?: number; positions?: number; seconds: number };
  /** Hosts of nodes that the message names, for operators. */
  readonly endpoints?: readonly string[];
};

/** Times are unix seconds. */
export type ChainStatus = {
  readonly chainId: number;
  readonly head: { number: number; hash: string; timestamp: number } | null;
  readonly indexed: { number: number; hash: string | null; timestamp: number } | null;
  /** The highest block with facts in the log. */
  readonly recorded: { number: number; hash: string } | null;
  readonly finalized: { number: number; saidBy: "tag" | "depth" | null } | null;
  readonly lagBlocks: number | null;
  readonly lagSeconds: number | null;
  readonly indexers: IndexerState[];
  readonly history: HistoryState | null;
};

export type ProjectionStatus = {
  readonly name: string;
  readonly version: number;
  readonly position: number;
  /** Facts not applied yet. */
  readonly lag: number;
  readonly lagSeconds: number;
};

/** Facts that a projection could not apply and excludes. */
export type ExclusionWarning = ExcludedFacts & {
  readonly part: string;
  readonly kind: "facts_excluded";
  readonly message: string;
};

/** An indexer of an added source on its first pass: everything else is current. */
export type CatchingUp = {
  readonly part: string;
  readonly kind: "catching_up";
  readonly message: string;
  readonly remaining: { blocks: number; seconds: number | null } | null;
};

/** What the indexer's reader of a chain waits for, or a node of which it uses no answer. */
export type ReadingFault = {
  readonly part: string;
  readonly kind: "chain_reading";
  readonly message: string;
  /** Hosts of nodes that the message names, for operators. */
  readonly endpoints: readonly string[];
};

export type Warning = HeadFault | ExclusionWarning | CatchingUp | ReadingFault;

export type ServiceStatus = {
  readonly ready: boolean;
  readonly failing: readonly FailingPart[];
  /** Faults that delay nothing: one node of several, an excluded fact. */
  readonly warnings: readonly Warning[];
  readonly logPosition: number | null;
  readonly chains: readonly ChainStatus[];
  readonly projections: readonly ProjectionStatus[];
};

/** The result of checking one part. */
export type Findings<Status> = {
  readonly status: Status;
  readonly failing: readonly FailingPart[];
  readonly warnings: readonly Warning[];
};

/** Seconds that a part may lag before it is reported as failing. */
export type MaxLagSeconds = {
  /** Ponder behind the chain's head; a node's head behind the last indexed block. */
  readonly indexer: number;
  /** The log behind Ponder's tables. */
  readonly recorder: number;
  /** A projection behind the log. */
  readonly projection: number;
  /** A role without a leader. */
  readonly lease: number;
  /** The log holding a block that is not on the canonical chain. */
  readonly branch: number;
};

export const maxLagSeconds: MaxLagSeconds = {
  indexer: 60,
  recorder: 15,
  projection: 15,
  lease: 10,
  branch: 20,
};

/** Milliseconds between checks of all parts, whether or not anybody requests the status. */
export const statusPollMs = 5_000;

/** How far something is behind what it follows. */
export type Lag = {
  readonly behind: number;
  /** Seconds since the oldest step that it has not reached was seen. */
  readonly seconds: number;
  /** Whether it was ever within `closeEnough`. */
  readonly caughtUp: boolean;
};

export type TrackedFollower = (target: number, reached: number, now: number) => Lag;

/**
 * Measures how late a follower is from observations of its target: a target that does not move never makes it late,
 * however old its last step is. `now` is in milliseconds.
 */
export function trackFollower(closeEnough: number): TrackedFollower {
  let missed: { target: number; seenAt: number }[] = [];
  let caughtUp = false;
  return (target, reached, now) => {
    // A target that moved back (a reorg, another node) keeps the time at which it was first missed.
    missed = missed
      .filter((one) => one.target > reached)
      .map((one) => ({ ...one, target: Math.min(one.target, target) }))
      .filter((one, index, all) => one.target > reached && one.target !== all[index - 1]?.target);
    if (target > reached && (missed.at(-1)?.target ?? -1) < target) {
      missed.push({ target, seenAt: now });
    }
    if (missed.length > 1000) missed = missed.filter((_, index) => index % 2 === 0);
    const behind = Math.max(0, target - reached);
    caughtUp ||= behind <= closeEnough;
    const [oldest] = missed;
    const seconds = oldest === undefined ? 0 : Math.max(0, now - oldest.seenAt) / 1000;
    return { behind, seconds, caughtUp };
  };
}
