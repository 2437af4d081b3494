import { afterAll, beforeEach, expect, it } from "vitest";
import { bidsProjection } from "../../../projections/bids/project.ts";
import { listingsProjection } from "../../../projections/listings/project.ts";
import { ownershipProjection } from "../../../projections/ownership/project.ts";
import { readDoubtfulOrders } from "../../../projections/reads/orders/read-open-orders.ts";
import { block } from "../../support/database/given.ts";
import { alice, approves, at, bob, gets, listing, nft } from "../../support/orders/listing-book.ts";
import { openBook } from "../../support/orders/order-book.ts";
import { givenListing, read, transferred } from "../../support/orders/order-facts.ts";

const book = await openBook([ownershipProjection, listingsProjection, bidsProjection]);
const { db, happens, retract } = book;

afterAll(() => book.drop());
beforeEach(() => book.clear());

const doubtful = () => readDoubtfulOrders(db, 1, { after: 0n, upTo: 1_000_000n });
const given = [transferred(gets(alice), at(1)), approves()];

it("an order is doubtful when a block is dropped in which something was read of it", async () => {
  const order = listing();
  const other = givenListing({ maker: bob, contract: nft, tokenId: 2n });
  await happens(...given, order.submitted, other.submitted);
  const about = { contract: nft, tokenId: 1n, owner: alice };
  await happens(read({ kind: "transfer_read", ...about, allowed: false }, block(1, 2)));
  const before = await doubtful();
  await retract(block(1, 2));

  expect(before).toEqual([]);
  expect(await doubtful()).toEqual([order.orderHash]);
});

it("an order is doubtful when its maker's counter was read in a block that is dropped", async () => {
  const order = listing({ counter: 7n });
  const counted = read({ kind: "counter_read", maker: alice, counter: 7n }, block(1, 2));
  await happens(...given, order.submitted, counted);
  const state = () => book.state("listings.listing", order);
  const before = [await state(), await doubtful()];
  await retract(block(1, 2));

  expect(before).toEqual(["active", []]);
  expect([await state(), await doubtful()]).toEqual(["cancelled", [order.orderHash]]);
});
