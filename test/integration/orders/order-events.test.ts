import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { bidsProjection } from "#projections/orders/bids.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { readOrderEvents } from "#projections/orders/read-order-events.ts";
import { readOrderBookPosition } from "#projections/orders/read-orders.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { addressOf, block } from "#test/support/database/given.ts";
import {
  approval,
  cancelled,
  filled,
  givenListing,
  receivedAt,
  ticked,
  transferred,
} from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { openBookFollower, readBook } from "#test/support/orders/told-book.ts";

const log = await openProjectedLog([ownershipProjection, listingsProjection, bidsProjection]);
const { db } = log;
afterAll(() => log.drop());

const [maker, other, contract] = [addressOf(1), addressOf(2), addressOf(50)];
const tokenId = 1n;
const terms = { maker, contract, tokenId, endTime: receivedAt + 1_000n };
const [listing, cheaper] = [
  givenListing({ ...terms, unitPriceWei: 2_000n }),
  givenListing({ ...terms, unitPriceWei: 1_000n }),
];
const moved = (from: typeof maker, to: typeof maker, number: number) =>
  transferred({ contract, tokenId, from, to }, { at: block(1, number), log: number });

let told = 0n;
/** What was reported since the last look, in words. */
async function news(): Promise<string[]> {
  const upTo = await readOrderBookPosition(db);
  const events = await readOrderEvents(db, { after: told, upTo }, [1]);
  told = upTo;
  return events.map(({ type, reason, terms: { priceWei } }) =>
    [type, reason ?? priceWei].filter((one) => one !== undefined).join(" "),
  );
}

beforeEach(async () => {
  await log.clear();
  await sql`delete from ops.projecting_lease`.execute(db);
  told = 0n;
  await log.happens(
    approval(contract, maker, true, { at: block(1, 1) }),
    transferred({ contract, tokenId, to: maker }, { at: block(1, 2) }),
  );
});

describe("a listing is reported", () => {
  it("as active, out of the book with the reason, and in again by a reorg", async () => {
    await log.happens(listing.submitted);
    expect(await news()).toEqual(["order_activated 2000", "floor_changed 2000"]);
    await log.happens(moved(maker, other, 3));
    expect(await news()).toEqual(["order_invalidated not_owner", "floor_changed"]);
    await log.retract(block(1, 3));
    expect(await news()).toEqual(["order_activated 2000", "floor_changed 2000"]);
  });

  it("as superseded by a cheaper one, which is the floor", async () => {
    await log.happens(listing.submitted);
    await log.happens(cheaper.submitted);
    expect((await news()).slice(2).toSorted()).toEqual([
      "floor_changed 1000",
      "order_activated 1000",
      "order_superseded superseded",
    ]);
  });

  it("as filled, as cancelled and as expired, and by a reorg as active", async () => {
    await log.happens(listing.submitted);
    for (const [number, ends, type] of [
      [4, filled(listing, 1n, { at: block(1, 4) }), "order_filled"],
      [5, cancelled(listing, { at: block(1, 5) }), "order_cancelled"],
    ] as const) {
      await news();
      await log.happens(ends);
      expect(await news()).toEqual([`${type} 2000`, "floor_changed"]);
      await log.retract(block(1, number));
      expect(await news()).toEqual(["order_activated 2000", "floor_changed 2000"]);
    }
    await log.happens(ticked(receivedAt + 1_000n));
    expect(await news()).toEqual(["order_expired 2000", "floor_changed"]);
  });

  it("as nothing when it was never active, and by ticks that change nothing", async () => {
    await log.happens(moved(maker, other, 3), listing.submitted, moved(other, addressOf(3), 4));
    await log.happens(cancelled(listing, { at: block(1, 5) }));
    expect(await news()).toEqual([]);
  });
});

describe("of two releases", () => {
  const lease = (expires: string) =>
    sql`
      insert into ops.projecting_lease (role, owner, epoch, expires_at)
      values ('projections other', 'somebody', 1, now() + ${expires}::interval)
      on conflict (role) do update set expires_at = excluded.expires_at`.execute(db);

  it("the other tells while its projector works; then everything that differs is reported, once", async () => {
    await log.happens(listing.submitted);
    await sql`update engine.book set release = 'other', listings = 1`.execute(db);
    await lease("1 hour");
    await news();
    await log.happens(cheaper.submitted);
    expect(await news()).toEqual([]);

    await lease("-1 second");
    await log.happens(moved(maker, other, 3));
    expect(await news()).toEqual(["order_invalidated not_owner", "floor_changed"]);
    await log.retract(block(1, 3));
    expect(await news()).toEqual([
      "order_superseded superseded",
      "order_activated 1000",
      "floor_changed 1000",
    ]);
  });

  it("one that is behind what was reported tells only from there on", async () => {
    await log.happens(listing.submitted);
    await sql`update engine.book set listings = 1, position = position + 2`.execute(db);
    await log.happens(moved(maker, other, 3), moved(other, maker, 4));
    const follower = openBookFollower(db);
    const { rows } = await sql<{ position: bigint }>`select position from engine.book`.execute(db);
    expect(await follower.follow(rows[0]?.position ?? 0n)).toHaveLength(2);
    await log.happens(cancelled(listing, { at: block(1, 5) }));
    await follower.follow(await readOrderBookPosition(db));
    expect(follower.book).toEqual(await readBook(db));
  });
});

it("a book is reported the first time where its orders are, so that no part of the feed is large", async () => {
  await log.happens(listing.submitted);
  await log.happens(moved(maker, other, 3), moved(other, maker, 4));
  await sql`truncate engine.book, engine.book_order, engine.book_price, engine.order_event`.execute(
    db,
  );
  await log.happens(moved(maker, maker, 5));
  const { rows } = await sql<{ type: string; position: bigint }>`
    select e.type, e.position from engine.order_event e join listings.listing l using (position)
    order by e.ordinal`.execute(db);
  expect(rows.map(({ type }) => type)).toEqual(["order_activated", "floor_changed"]);
});
