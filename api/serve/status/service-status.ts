import type { ExcludedFacts } from "#projections/engine/quarantine.ts";
import type { HistoryState } from "#projections/log/chain-state.ts";
import type { IndexerState } from "#projections/log/progress.ts";
import type { HeadFault } from "#jobs/chain/fetch-head.ts";

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
