import { describe, expect, it } from "vitest";
import { openRate } from "./show-progress.ts";

/** The times left that readings of one chain give, ten seconds apart. */
function timesLeft(readings: readonly (readonly [block: number | null, head: number])[]) {
  let now = 0;
  const withRate = openRate(() => now);
  return readings.map(([block, head], index) => {
    now = index * 10_000;
    return withRate({ facts: index * 100, chains: [{ chainId: 1, block, head }] }).secondsLeft;
  });
}

describe("the time left of a start", () => {
  it("is by how fast the distance to the head shrinks", () => {
    expect(
      timesLeft([
        [0, 1_000],
        [100, 1_000],
        [200, 1_000],
      ]),
    ).toEqual([null, 90, 80]);
  });

  it("is not known while the head runs ahead of what is recorded", () => {
    expect(
      timesLeft([
        [null, 100],
        [90, 100],
        [90, 105],
        [90, 110],
      ]),
    ).toEqual([null, null, null, null]);
  });

  it("forgets the pace of an earlier phase", () => {
    const slow = Array.from({ length: 10 }, () => [10, 1_000] as const);
    const fast = [100, 300, 500, 700, 900].map((block) => [block, 1_000] as const);
    expect(timesLeft([...slow, ...fast]).at(-1)).toBe(5);
  });
});
