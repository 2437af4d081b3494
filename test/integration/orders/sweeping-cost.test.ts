import { sql } from "kysely";
import { afterAll, beforeEach, expect, it } from "vitest";
import { collectionsProjection } from "#projections/collections/collections.ts";
import { appendObservations } from "#projections/log/append.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { readBuyableUnits } from "#projections/tokens/read-buyable-units.ts";
import { addressOf, block } from "#test/support/database/given.ts";
import { analyze } from "#test/support/database/plans.ts";
import {
  approval,
  givenListing,
  receivedAt,
  transferred,
} from "#test/support/orders/order-facts.ts";
import { type Fact, openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog([
  ownershipProjection,
  listingsProjection,
  collectionsProjection,
]);
const { db } = book;
afterAll(() => book.drop());
beforeEach(() => book.clear());

it("of a collection with 5,000 listings a sweep reads the cheapest alone", async () => {
  const [contract, maker] = [addressOf(50), addressOf(1)];
  const token: Fact = {
    ...transferred({ contract, to: maker, tokenId: 1n }, { at: block(1, 1) }),
    kind: "erc721_consecutive_transfer",
    amount: 5_000n,
  };
  const listings = Array.from({ length: 5_000 }, (_, index) =>
    givenListing({
      ...{ maker, contract, tokenId: BigInt(index + 1) },
      unitPriceWei: BigInt(((index * 37) % 5_000) + 1) * 10_000n,
    }),
  );
  await appendObservations(
    db,
    listings.map(({ submitted }) => submitted),
  );
  await book.happens(token, approval(contract, maker, true, { at: block(1, 1), log: 1 }));
  await sql`analyze`.execute(db);
  const { rows } = await sql<{ id: number }>`
    select contract_id as id from log.contract where address = ${Buffer.from(contract.slice(2), "hex")}`.execute(
    db,
  );
  const filter = {
    contractIds: rows.map(({ id }) => id),
    ...{ traitKeys: [], orderHashes: null, currency: null, buyer: addressOf(9) },
  };
  const now = new Date(Number(receivedAt) * 1000);
  const read = (one: typeof db) => readBuyableUnits(one, filter, 300, now);
  const units = await read(db);
  expect(units.map(({ unitPriceWei }) => unitPriceWei)).toEqual(
    Array.from({ length: 300 }, (_, index) => BigInt(index + 1) * 10_000n),
  );
  const [first] = await analyze(db, read);
  expect(first?.buffers).toBeLessThan(4_000);
});
