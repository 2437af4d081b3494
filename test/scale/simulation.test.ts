import { afterAll, describe, expect, it } from "vitest";
import { countHistory, emptyCoverage } from "../simulation/coverage.ts";
import { sources } from "../simulation/exchanges/any-event.ts";
import { makeHistory } from "../simulation/history.ts";
import { randomFrom } from "../simulation/random.ts";
import { simulate } from "../simulation/run.ts";
import { drawSize } from "../simulation/sizes.ts";
import { closeStore, openStore } from "../simulation/store.ts";
import { repartition } from "../support/database/partitions.ts";
import { createDatabase } from "../support/database/postgres.ts";

const watched = await createDatabase();
const shuffled = await createDatabase();
// One log has many partitions, the other one.
await repartition(shuffled.db, 40);
const stages = [await openStore(watched.url), await openStore(shuffled.url)] as const;

afterAll(async () => {
  await Promise.all(stages.map(closeStore));
  await watched.drop();
  await shuffled.drop();
});

const seeds = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** What the histories of two hundred seeds hold. */
const reached = emptyCoverage();
for (const seed of seeds(200)) {
  const random = randomFrom(seed);
  countHistory(reached, makeHistory(random, drawSize(random)));
}

describe("a random history", () => {
  it.each(seeds(8))(
    "leaves one state however it arrives and whatever fails meanwhile (seed %i)",
    async (seed) => {
      const broken = await simulate(seed, stages, emptyCoverage());

      expect(broken.join("\n")).toBe("");
    },
  );

  it("drops one block or hundreds and returns to left branches, within two hundred seeds", () => {
    const reorgs = [...reached.counts.keys()].filter((what) => what.startsWith("reorg"));
    expect(reorgs.sort()).toEqual([
      "reorg: 1 deep",
      "reorg: 2 to 6 deep",
      "reorg: 7 to 64 deep",
      "reorg: more than 64 deep",
      "reorg: to a branch that was left",
    ]);
  });

  it("holds every event of every exchange, within two hundred seeds", () => {
    const missing = sources.flatMap(({ name: source, events }) =>
      events
        .map(({ name: event }) => `exchange event: ${source} ${event}`)
        .filter((event) => !reached.counts.has(event)),
    );
    expect(missing).toEqual([]);
  });
});
