import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import type { Projection, Step } from "#projections/engine/projection.ts";
import { tick } from "#projections/engine/tick.ts";
import { salesProjection } from "#projections/sales/sales.ts";
import {
  addressOf,
  appendEventsIn,
  block,
  createProjection,
  dropTargetsAndFacts,
  dumpTable,
  project,
} from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";
import { soldOnLooksrare } from "#test/support/market-data/exchange-sales.ts";
import { transferred } from "#test/support/orders/order-facts.ts";

const database = await createDatabase();
const { db } = database;
afterAll(() => database.drop());

const [alice, bob] = [addressOf(1), addressOf(2)];
const projection = salesProjection({ feeRecipient: addressOf(9) });
let height = 1_000;

/** Appends while others may hold the log's head, for which it does not wait long. */
async function append(events: readonly Parameters<typeof appendEventsIn>[1][number][]) {
  await db.transaction().execute(async (session) => {
    await sql`set local lock_timeout = '2s'`.execute(session);
    await appendEventsIn(session, events);
  });
}

/** A block with a transfer of a contract that was seen before. */
async function appendTransfer(): Promise<void> {
  height += 1;
  const transfer = { contract: addressOf(3), tokenId: 1n, from: alice, to: bob };
  await append([transferred(transfer, { at: block(1, height), log: 0 })]);
}

/** Sales of contracts that no fact names as such: the exchange's event holds them in its arguments. */
async function appendSales(contracts: number): Promise<void> {
  const sales = Array.from({ length: contracts }, (_, nth) => {
    const sale = { contract: addressOf(100 + nth), tokenId: 7n, priceWei: 10n ** 18n };
    height += 1;
    return soldOnLooksrare(
      { ...sale, seller: alice, buyer: bob },
      { at: block(1, height), log: 9 },
    );
  });
  await append(sales);
}

const registered = async () => (await dumpTable(db, "log.contract")).length;

beforeEach(async () => {
  await dropTargetsAndFacts(db);
  await appendTransfer();
});

describe("sales of contracts without ids", () => {
  it("are derived in bulk while appends never pause", async () => {
    await appendSales(3);
    let parts = 0;
    const beside = (step: Step): Step => ({
      ...step,
      derive: async (...given) => {
        parts += 1;
        await appendTransfer();
        const done = await step.derive(...given);
        await appendTransfer();
        return done as never;
      },
    });
    const steps = projection.deriveAll?.map(beside) ?? [];
    const before = await registered();
    await deriveInBulk(db, { projection: { ...projection, deriveAll: steps }, schema: "beside" });
    expect(await dumpTable(db, "beside.sale")).toHaveLength(3);
    expect(await registered()).toBe(before + 3);
    // The part that named them was done twice.
    expect(parts).toBe(steps.length + 1);
  });

  it("let appends go on while a tick that names them is under way", async () => {
    await appendSales(2);
    const follower: Projection = {
      ...{ name: "follower", version: 1, reads: ["sales"], tables: () => [] },
      apply: async () => appendTransfer(),
    };
    const targets = [await createProjection(db, projection), await createProjection(db, follower)];
    expect(await tick(db, targets)).toMatchObject({ outcome: "moved" });
    await project(db, targets.slice(0, 1));
    expect(await dumpTable(db, "sales.sale")).toHaveLength(2);
  });
});
