import { afterAll, beforeAll, expect, it } from "vitest";
import { addressOf, appendEvents, block, zeroAddress } from "#test/support/database/given.ts";
import {
  type OrderReadsFixture,
  openOrderReads,
} from "#test/support/orders/order-reads-fixture.ts";
import { nfts, openedAt } from "#test/support/orders/seeded-orders.ts";

let reads: OrderReadsFixture;
beforeAll(async () => {
  reads = await openOrderReads();
  reads.at(openedAt);
});
afterAll(() => reads?.close());

const offersOf = async (tokenId: bigint) => {
  const token = await reads.one(`/v1/collections/editions/tokens/${tokenId}`);
  const bids = await reads.one(`/v1/bids/best?collection=editions&tokenId=${tokenId}`);
  return { isBurned: token.isBurned, bestOffer: token.bestOffer, best: bids.best };
};

it("are none while nobody holds a unit of an ERC-1155 id, burned or not", async () => {
  const [held, empty, gone] = [7_001n, 7_002n, 7_003n];
  const holder = addressOf(77);
  const moved = (logIndex: number, tokenId: bigint, amount: bigint, isBurn = false) => ({
    kind: "erc1155_transfer" as const,
    block: block(1, 5),
    logIndex,
    contract: nfts.editions.address,
    from: isBurn ? holder : zeroAddress,
    to: isBurn ? zeroAddress : holder,
    tokenId,
    amount,
  });
  await appendEvents(reads.db, [
    moved(0, held, 2n),
    moved(1, empty, 0n),
    moved(2, gone, 1n),
    moved(3, gone, 1n, true),
  ]);
  await reads.catchUp();

  const some = expect.objectContaining({ kind: "collection" });
  expect(await offersOf(held)).toMatchObject({ isBurned: false, best: some });
  expect((await offersOf(held)).bestOffer).not.toBeNull();
  expect(await offersOf(empty)).toEqual({ isBurned: false, bestOffer: null, best: null });
  expect(await offersOf(gone)).toEqual({ isBurned: true, bestOffer: null, best: null });
});
