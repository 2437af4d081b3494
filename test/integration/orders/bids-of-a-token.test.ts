import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { appendObservations } from "#projections/log/append.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { givenBid, receivedAt } from "#test/support/orders/order-facts.ts";
import {
  hashOf,
  type OrderReadsFixture,
  openOrderReads,
} from "#test/support/orders/order-reads-fixture.ts";
import { makers, nfts, openedAt, pauper } from "#test/support/orders/seeded-orders.ts";

const random = randomFrom(46);
/** Of the two contracts of a collection; apart from those of other bids, and in two chunks. */
const ids = [1_020n, 1_021n, 1_022n, 1_023n, 1_024n, 1_025n, 2n ** 200n];

/** On one token, on a set, or on every token of its contract. */
const bids = Array.from({ length: 90 }, (_, index) => {
  const kind = random.pick(["single-token", "token-list", "token-list", "collection"] as const);
  const { address: contract, chainId } = random.pick([nfts.kin, nfts.kinSecond]);
  const maker = random.pick([makers.carol, makers.carol, pauper]);
  const tokenId = random.pick(ids);
  const tokenIds = random.shuffle([...ids, 5_000n, 9_000n]).slice(0, random.int(1, 7));
  const priceWei = BigInt(random.int(1, 40)) * 10n ** 15n;
  const createdAt = receivedAt + BigInt(random.int(0, 50));
  const order = givenBid({
    ...{ chainId, contract, maker, unitPriceWei: priceWei, receivedAt: createdAt },
    ...{ royaltyWei: BigInt(random.int(0, 3)) * 10n ** 14n, salt: BigInt(index) + 1_000n },
    ...(kind === "single-token" && { tokenId }),
    ...(kind === "token-list" && { tokenIds }),
  });
  const status = maker === pauper ? "inactive" : "active";
  const isOn = (id: bigint) =>
    kind === "single-token" ? id === tokenId : kind === "token-list" && tokenIds.includes(id);
  const { sellerNetWei } = order.terms;
  return { kind, contract, order, isOn, status, priceWei, createdAt, sellerNetWei, index };
});
type Bid = (typeof bids)[number];

let reads: OrderReadsFixture;
beforeAll(async () => {
  reads = await openOrderReads();
  reads.at(openedAt);
  const facts = bids.flatMap(({ order: { tokenSet, submitted } }) =>
    tokenSet === undefined ? [submitted] : [tokenSet, submitted],
  );
  await appendObservations(reads.db, facts);
  await reads.catchUp();
});
afterAll(() => reads?.close());

const sorts: Record<string, (bid: Bid) => bigint> = {
  price_asc: ({ priceWei }) => priceWei,
  price_desc: ({ priceWei }) => priceWei,
  created_at: ({ createdAt }) => createdAt,
  seller_net_asc: ({ sellerNetWei }) => sellerNetWei,
  seller_net_desc: ({ sellerNetWei }) => sellerNetWei,
};

/** The bids that match, sorted; ties are in order of submission. */
function expected(matches: (bid: Bid) => boolean, sort: string): string[] {
  const value = sorts[sort] ?? (() => 0n);
  const ascending = bids
    .filter(matches)
    .sort((a, b) => Number(value(a) - value(b)) || a.index - b.index)
    .map(({ order }) => order.orderHash);
  return sort.endsWith("_asc") ? ascending : ascending.reverse();
}

describe.each(Object.keys(sorts))("GET /v1/bids?token_id= by %s", (sort) => {
  const statuses = ["active", "inactive", "all"];

  it("of a collection lists bids on the token, and those on sets that hold it, with the exact total", async () => {
    let found = 0;
    for (const id of [...ids, 5_000n, 4_999n]) {
      for (const status of statuses) {
        const wanted = (bid: Bid) => bid.isOn(id) && (status === "all" || bid.status === status);
        const hashes = expected(wanted, sort);
        const url = `/v1/bids?collection=kin&token_id=${id}&status=${status}&sort=${sort}&per_page=4`;
        const walked = await reads.readAllByCursor(url);
        expect(walked.rows.map(hashOf), url).toEqual(hashes);
        expect(walked.total, url).toBe(hashes.length);
        expect((await reads.readAllByPage(url)).map(hashOf), url).toEqual(hashes);
        found += hashes.length;
      }
    }
    expect(found).toBeGreaterThan(50);
  });

  it("lists one kind of them alone", async () => {
    for (const kind of ["single-token", "token-list", "collection"] as const) {
      const wanted = (bid: Bid) => bid.isOn(1_024n) && bid.kind === kind;
      const url = `/v1/bids?collection=kin&token_id=1024&kind=${kind}&status=all&sort=${sort}`;
      const { rows, total } = await reads.readAllByCursor(`${url}&per_page=50`);
      expect(rows.map(hashOf), url).toEqual(expected(wanted, sort));
      expect(total).toBe(rows.length);
    }
  });

  it("without a collection lists those on the one id, as an id alone is no token", async () => {
    const wanted = (bid: Bid) =>
      bid.kind === "single-token" && bid.isOn(1_023n) && bid.status === "active";
    const { rows } = await reads.readAllByCursor(`/v1/bids?token_id=1023&sort=${sort}`);
    expect(rows.map(hashOf)).toEqual(expected(wanted, sort));
  });
});

it("a maker's bids on a token are those of its bids that are on it", async () => {
  const wanted = ({ isOn, status }: Bid) => isOn(1_022n) && status === "inactive";
  const url = `/v1/bids?collection=kin&token_id=1022&maker=${pauper}&status=inactive`;
  const { rows } = await reads.readAllByCursor(url);
  expect(rows.map(hashOf)).toEqual(expected(wanted, "price_desc"));
});
