import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { Target } from "#projections/engine/checkpoint.ts";
import { rebuild, rollBack } from "#projections/engine/rebuild.ts";
import { tick } from "#projections/engine/tick.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { readOrderBookPosition } from "#projections/orders/read-orders.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { makeHistory } from "#test/simulation/history.ts";
import { carryOut } from "#test/simulation/play.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import { orderedSteps, shuffledSteps } from "#test/simulation/script.ts";
import { project } from "#test/support/database/given.ts";
import { receivedAt, ticked } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { openBookFollower, readBook } from "#test/support/orders/told-book.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const projections = [ownershipProjection, listingsProjection, bidsProjection];
const log = await openProjectedLog(projections);
const { db } = log;
afterAll(() => log.drop());
beforeEach(() => log.clear());

const seeds = seedsOf(
  Array.from({ length: 100 }, (_, index) => index + 1),
  20,
);

/** Rows that no derivation gives, as a former bug would have left them. */
async function spoil(random: Random): Promise<void> {
  const status = random.pick(["cancelled", "active", "inactive"]);
  for (const table of ["listings.listing", "bids.bid"])
    await sql`
      update ${sql.table(table)} set status = ${status}, reason = null, quantity = quantity + 1
      where get_byte(order_hash, 0) % 3 = ${random.int(0, 2)} and status in ('active', 'inactive')`.execute(
      db,
    );
}

/** Something happens, so that the projector ticks. */
async function tickClock(targets: readonly Target[], seconds: bigint): Promise<void> {
  await log.appendFacts([ticked(receivedAt + seconds)]);
  await project(db, targets);
}

/** At random steps a projection's tables are rebuilt, and later those from before are put back. */
function replacing(random: Random, steps: number, targets: readonly Target[]) {
  const projection = random.pick([listingsProjection, bidsProjection]);
  const [rebuildAt, rollBackAt] = [random.int(5, steps - 2), random.int(5, steps - 2)];
  return async (step: number): Promise<void> => {
    if (step === rebuildAt) {
      if (random.chance(0.7)) await spoil(random);
      await rebuild(db, projection, () => {});
    } else if (step === rollBackAt && step > rebuildAt) {
      await tickClock(targets, 1n);
      await rollBack(db, projection.name);
      await tickClock(targets, 2n);
    }
  };
}

/** Steps of a history, whose projector ticks now and then. `look` is called after ticks. */
async function play(seed: number, look: () => Promise<void>): Promise<void> {
  const random = randomFrom(seed);
  const targets = await log.emptyTargets();
  const history = makeHistory(random, { turns: 8, reorgDepth: 8 });
  const steps = seed % 2 === 0 ? shuffledSteps(random, history) : orderedSteps(random, history);
  const replaceTables = replacing(random, steps.length, targets);
  for (const [index, step] of steps.entries()) {
    await carryOut(db, step);
    await replaceTables(index);
    if (!random.chance(0.3)) continue;
    const { outcome } = await tick(db, targets, random.pick([1, 5, 50, 1_000]));
    if (outcome === "moved") await look();
  }
  await tickClock(targets, 3n);
  await look();
}

describe("order events", () => {
  it.each(seeds)("give the book at each position (history %i)", async (seed) => {
    const follower = openBookFollower(db);
    let most = 0;
    await play(seed, async () => {
      await follower.follow(await readOrderBookPosition(db));
      const book = await readBook(db);
      most = Math.max(most, book.orders.size);
      expect(follower.book).toEqual(book);
    });

    expect(most).toBeGreaterThan(0);
    const again = openBookFollower(db);
    await again.follow(await readLogHead(db));
    expect(again.book).toEqual(follower.book);
  });
});
