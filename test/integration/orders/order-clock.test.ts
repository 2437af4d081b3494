import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type OrderStatus, orderStatus } from "#projections/domain/orders/order-status.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { readClock, readNextBoundary } from "#projections/orders/clock.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { statusCase } from "#projections/orders/read-orders.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { alice, bob, nft } from "#test/support/orders/listings-log.ts";
import { givenBid, givenListing, receivedAt, ticked } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog([ownershipProjection, listingsProjection, bidsProjection]);
const { db, happens } = book;
afterAll(() => book.drop());
beforeEach(() => book.clear());

describe("the clock", () => {
  it("is the time of the latest tick", async () => {
    const before = await readClock(db);
    await happens(ticked(200n), ticked(100n));

    expect([before, await readClock(db)]).toEqual([0n, 200n]);
  });

  it("next changes an order when one starts or ends", async () => {
    const soon = givenListing({
      maker: alice,
      contract: nft,
      tokenId: 1n,
      startTime: receivedAt + 10n,
      endTime: receivedAt + 30n,
    });
    const bid = givenBid({ maker: bob, contract: nft, endTime: receivedAt + 20n });
    const nothing = await readNextBoundary(db, receivedAt);
    await happens(soon.submitted, bid.submitted);
    const boundaries = [];
    for (const after of [receivedAt, receivedAt + 10n, receivedAt + 20n, receivedAt + 30n]) {
      boundaries.push(await readNextBoundary(db, after));
    }

    expect(nothing).toBeNull();
    expect(boundaries).toEqual([receivedAt + 10n, receivedAt + 20n, receivedAt + 30n, null]);
  });
});

it("a status in SQL equals the status of the domain, for all combinations of conditions", async () => {
  const states = [];
  for (let bits = 0; bits < 16; bits += 1) {
    const holds = (bit: number) => (bits & bit) !== 0;
    const facts = {
      isFilled: holds(1),
      isCancelled: holds(2),
      isExpired: holds(4),
      isBlocked: holds(8),
    };
    const { rows } = await sql<{ status: OrderStatus }>`
      select ${statusCase({
        isFilled: sql`${facts.isFilled}::boolean`,
        isCancelled: sql`${facts.isCancelled}::boolean`,
        isExpired: sql`${facts.isExpired}::boolean`,
        isBlocked: sql`${facts.isBlocked}::boolean`,
      })} as status`.execute(db);
    states.push([rows[0]?.status, orderStatus(facts)]);
  }

  expect(states.filter(([inSql, inDomain]) => inSql !== inDomain)).toEqual([]);
});
