/** Numbers that a seed repeats. */
export type Random = {
  /** An integer from `low` to `high`, both included. */
  int(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
  /** A generator of its own, so that what one part draws does not move another's numbers. */
  fork(): Random;
};

/** Mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new Error("nothing to pick from");
    return items[int(0, items.length - 1)] as T;
  };
  const shuffle = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, key: next() }))
      .sort((one, other) => one.key - other.key)
      .map(({ item }) => item);
  return {
    int,
    pick,
    shuffle,
    chance: (probability) => next() < probability,
    fork: () => randomFrom(int(0, 2 ** 32 - 1)),
  };
}
