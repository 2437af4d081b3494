import { afterAll, beforeEach, expect, it } from "vitest";
import { wrappedNative } from "#chains/index.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { readOrdersToRecheck } from "#projections/orders/read-orders-to-recheck.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { addressOf, block } from "#test/support/database/given.ts";
import { alice, approves, at, bob, gets, listing, nft } from "#test/support/orders/listings-log.ts";
import {
  filled,
  givenBid,
  givenListing,
  read,
  transferred,
} from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog([ownershipProjection, listingsProjection, bidsProjection]);
const { db, happens, retract } = book;

afterAll(() => book.drop());
beforeEach(() => book.clear());

async function toRecheck() {
  return (await readOrdersToRecheck(db, 1, { after: 0n, upTo: 1_000_000n })).orders;
}
const given = [transferred(gets(alice), at(1)), approves()];

it("an order is checked again when a block with a reading about it is retracted", async () => {
  const order = listing();
  const other = givenListing({ maker: bob, contract: nft, tokenId: 2n });
  await happens(...given, order.submitted, other.submitted);
  const about = { contract: nft, tokenId: 1n, owner: alice };
  await happens(read({ kind: "transfer_read", ...about, allowed: false }, block(1, 2)));
  const before = await toRecheck();
  await retract(block(1, 2));

  expect(before).toEqual([]);
  expect(await toRecheck()).toEqual([order.orderHash]);
});

it("an order is checked again when the block of its maker's counter reading is retracted", async () => {
  const order = listing({ counter: 7n });
  const counted = read({ kind: "counter_read", maker: alice, counter: 7n }, block(1, 2));
  await happens(...given, order.submitted, counted);
  const state = () => book.state("listings.listing", order);
  const before = [await state(), await toRecheck()];
  await retract(block(1, 2));

  expect(before).toEqual(["active", []]);
  expect([await state(), await toRecheck()]).toEqual(["cancelled", [order.orderHash]]);
});

it("a bid is checked again when its maker paid for what another account got", async () => {
  const order = listing();
  const paid = { kind: "erc20_transfer", contract: wrappedNative[1], to: alice } as const;
  const [carol, dave] = [addressOf(3), addressOf(4)];
  const bids = [carol, dave].map((maker) => givenBid({ maker, contract: nft }));
  await happens(...given, order.submitted, ...bids.map(({ submitted }) => submitted));
  await happens(
    { ...filled(order, 1n, at(2), bob), transactionIndex: 1 },
    { ...paid, block: block(1, 2), logIndex: 90, transactionIndex: 1, from: carol, amount: 5n },
    { ...paid, block: block(1, 2), logIndex: 91, transactionIndex: 1, from: dave, amount: 0n },
    { ...paid, block: block(1, 2), logIndex: 92, transactionIndex: 2, from: dave, amount: 5n },
  );

  expect(await toRecheck()).toEqual([bids[0]?.orderHash]);
});
