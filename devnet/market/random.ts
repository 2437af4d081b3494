/** Pseudo-random choices: the same seed gives the same sequence. */
export type Random = {
  /** An integer from 0 to `bound - 1`. */
  below(bound: number): number;
  /** Both ends included. */
  between(low: bigint, high: bigint): bigint;
  pick<Choice>(choices: readonly [Choice, ...Choice[]]): Choice;
};

/** Mulberry32: 32 bits of state are enough for varied trades. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (bound: number) => Math.floor((next() / 2 ** 32) * bound);
  return {
    below,
    between: (low, high) => low + ((high - low + 1n) * BigInt(next())) / 2n ** 32n,
    pick: ([first, ...rest]) => rest[below(rest.length + 1) - 1] ?? first,
  };
}
