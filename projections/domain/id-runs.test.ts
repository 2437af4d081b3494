import { describe, expect, it } from "vitest";
import {
  byRecency,
  type Ids,
  latestRuns,
  mergeRuns,
  type Run,
  unionOf,
  within,
  without,
} from "./id-runs.ts";

/** A small generator of its own: the same runs for a seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822507) + 0x9e3779b9) >>> 0;
    return state % below;
  };
}

function randomRuns(seed: number): Run[] {
  const random = randomOf(seed);
  return Array.from({ length: 1 + random(12) }, (_, logIndex) => {
    const first = BigInt(random(20));
    return { first, end: first + 1n + BigInt(random(10)), blockId: BigInt(random(4)), logIndex };
  });
}

const nameOf = ({ blockId, logIndex }: Run) => `${blockId}/${logIndex}`;

/** Each id by itself. */
function expanded<Of extends Ids>(runs: readonly Of[]): Map<bigint, Of> {
  const byId = new Map<bigint, Of>();
  for (const run of runs) for (let id = run.first; id < run.end; id += 1n) byId.set(id, run);
  return byId;
}

const seeds = Array.from({ length: 60 }, (_, seed) => seed);

describe("runs of ids, against each id by itself", () => {
  it.each(seeds)("the latest run of each id wins, joined where it can be, seed %i", (seed) => {
    const runs = randomRuns(seed);
    const oldestFirst = [...runs].sort(byRecency).reverse();
    const latest = latestRuns(runs);
    const names = (map: Map<bigint, Run>) =>
      [...map].map(([id, run]) => `${id} ${nameOf(run)}`).sort();

    expect(names(expanded(latest))).toEqual(names(expanded(oldestFirst)));
    expect(latest.length).toBeLessThan(2 * runs.length);
    expect(mergeRuns(latest)).toEqual(latest);
    for (const [place, run] of latest.entries())
      expect(run.first >= (latest[place - 1]?.end ?? run.first)).toBe(true);
  });

  it.each(seeds)("parts in and out of areas are all of a run, seed %i", (seed) => {
    const runs = latestRuns(randomRuns(seed));
    const areas = unionOf(randomRuns(seed + 1000));
    const ids = (parts: readonly Ids[]) => [...expanded(parts).keys()];
    const isInside = (id: bigint) => expanded(areas).has(id);

    expect(ids(within(runs, areas))).toEqual(ids(runs).filter(isInside));
    expect(ids(without(runs, areas))).toEqual(ids(runs).filter((id) => !isInside(id)));
    expect(mergeRuns([...within(runs, areas), ...without(runs, areas)])).toEqual(runs);
  });

  it("bounds are numbers of any size, and 20,000 nested runs take no time to speak of", () => {
    const nested = Array.from({ length: 20_000 }, (_, step) => ({
      first: BigInt(step),
      end: 2n ** 256n - BigInt(step),
      blockId: 1n,
      logIndex: step,
    }));
    expect(latestRuns(nested)).toHaveLength(39_999);
  });
});
