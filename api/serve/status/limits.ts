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
