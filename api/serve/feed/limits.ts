/** Limits of the feed in one process. */
export type FeedLimits = {
  readonly maxSubscribers: number;
  /** Unsent bytes allowed per subscriber, and for all of them together. */
  readonly unsentBytes: number;
  readonly unsentBytesTogether: number;
  /** A connection that accepts nothing for this long is closed. */
  readonly stalledMs: number;
  readonly heartbeatMs: number;
  /** Streams end after this time, so that the client's token is checked again when it reconnects. */
  readonly maxAgeMs: number;
  /** Size of the replay buffer. */
  readonly bufferBytes: number;
  /** Poll interval for the log when no notification arrives. */
  readonly pollMs: number;
};

const mebibyte = 2 ** 20;

export const feedLimits: FeedLimits = {
  maxSubscribers: 4_000,
  unsentBytes: mebibyte,
  unsentBytesTogether: 256 * mebibyte,
  stalledMs: 60_000,
  heartbeatMs: 15_000,
  maxAgeMs: 3_600_000,
  bufferBytes: 8 * mebibyte,
  pollMs: 500,
};

/**
 * Who opens a stream, and how much of a feed may be taken when it is opened. Pages and instant keys cost a stranger
 * nothing: the last half is kept for keys, the last quarter for those that an account or the operator has made.
 */
export const shareOfPlaces = { page: 1 / 2, "instant key": 3 / 4, key: 1 } as const;

export type StreamOpener = keyof typeof shareOfPlaces;
