/** Seconds that a part may miss what it follows before it is told as failing. */
export type LateSeconds = {
  /** Ponder, behind the chain's head. An RPC's head, behind what was indexed. */
  readonly indexer: number;
  /** The log, behind what Ponder holds. */
  readonly recorder: number;
  /** A projection, behind the log. */
  readonly projection: number;
  /** A role without a process that works in it. */
  readonly lease: number;
  /** A block of the log that is not the chain's. */
  readonly branch: number;
};

export const lateSeconds: LateSeconds = {
  indexer: 60,
  recorder: 15,
  projection: 15,
  lease: 10,
  branch: 20,
};

/** Milliseconds between looks at the parts: what lasts is noticed that much later, also when nobody asks. */
export const lookMs = 2_000;
