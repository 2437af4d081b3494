/** What one process gives to its readers. */
export type FeedLimits = {
  readonly readers: number;
  /** Bytes that one reader, and all of them together, may leave unsent. */
  readonly unsentBytes: number;
  readonly unsentBytesTogether: number;
  /** Of a reader that takes nothing for so long the connection is cut. */
  readonly stalledMs: number;
  readonly heartbeatMs: number;
  /** Streams end after so long: who comes back is asked for its token again. */
  readonly lifeMs: number;
  /** Bytes of the newest events that are kept for who comes back. */
  readonly tapeBytes: number;
  /** Between two looks at the log where no notification comes. */
  readonly lookMs: number;
};

const mebibyte = 2 ** 20;

export const feedLimits: FeedLimits = {
  readers: 4_000,
  unsentBytes: mebibyte,
  unsentBytesTogether: 256 * mebibyte,
  stalledMs: 60_000,
  heartbeatMs: 15_000,
  lifeMs: 3_600_000,
  tapeBytes: 8 * mebibyte,
  lookMs: 500,
};
