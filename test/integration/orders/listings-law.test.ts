import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import { dropTarget } from "#projections/engine/checkpoint.ts";
import { verify } from "#projections/engine/verify.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { dumpTable, project } from "#test/support/database/given.ts";
import { bookHistory } from "#test/support/orders/book-history.ts";
import { receivedAt, ticked } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const book = await openProjectedLog([ownershipProjection, listingsProjection]);
const { db } = book;
afterAll(() => book.drop());
beforeEach(() => book.clear());

/** Two chains, in an order that no chain would tell facts in. `look` is called after every ten steps. */
async function writeHistory(
  seed: number,
  length: number,
  look: () => Promise<void> = async () => {},
): Promise<void> {
  const history = bookHistory(randomFrom(seed), length, { elsewhere: 33139 });
  for (const [index, step] of history.entries()) {
    const isTick = "facts" in step && step.facts[0]?.kind === "clock_ticked";
    // Late in a history all orders that ended without a fill may be compacted.
    if (isTick && index > length * 0.9) await book.appendFacts([ticked(afterCompaction)]);
    else await book.appendStep(step);
    if (index % 10 === 9) await look();
  }
}

const afterCompaction = receivedAt + BigInt(32 * 86_400);

async function tables(schema = "listings"): Promise<string[][]> {
  return [await dumpTable(db, `${schema}.listing`), await dumpTable(db, `${schema}.count`)];
}

/** The tables derived in bulk. */
async function derivedInBulk(): Promise<string[][]> {
  const schema = "listings_shadow";
  await deriveInBulk(db, { projection: listingsProjection, schema });
  const derived = await tables(schema);
  await dropTarget(db, schema);
  return derived;
}

describe("listings of equal logs", () => {
  it.each(seedsOf([1, 2, 3, 4]))(
    "are equal at every position, in any windows (history %i)",
    async (seed) => {
      let most = 0;
      const live = await book.emptyTargets();
      await writeHistory(seed, 150, async () => {
        await project(db, live, 1);
        const now = await tables();
        most = Math.max(most, now[0]?.length ?? 0);
        expect(now).toEqual(await derivedInBulk());
      });
      await project(db, live, 1);
      const one = await tables();
      await project(db, await book.emptyTargets(), 7);
      const seven = await tables();
      await project(db, await book.emptyTargets(), 100_000);

      expect(most).toBeGreaterThan(10);
      expect(seven).toEqual(one);
      expect(await tables()).toEqual(one);
    },
  );

  it("pass a verification by samples", async () => {
    await writeHistory(7, 150);
    await project(db, await book.emptyTargets());
    const { compared, different } = await verify(db, listingsProjection, {
      maxExamples: 5,
      sample: 4,
      onProgress: () => {},
    });

    expect(compared).toBeGreaterThan(0n);
    expect(different).toBe(0n);
  });
});
