import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bidSorts,
  by,
  every,
  hashOf,
  type OrderPredicate,
  type OrderReadsFixture,
  ofChain,
  ofToken,
  on,
  openOrderReads,
  sortedHashes,
  sorts,
} from "#test/support/orders/order-reads-fixture.ts";
import {
  bids,
  earlyEnd,
  listings,
  makers,
  nfts,
  openedAt,
  pauper,
  type SeededOrder,
} from "#test/support/orders/seeded-orders.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

let reads: OrderReadsFixture;
beforeAll(async () => {
  reads = await openOrderReads();
});
afterAll(() => reads?.close());

const statuses = ["active", "inactive", "filled", "expired", "cancelled"] as const;

/** The status that an order is shown with at a time. */
function shownStatus({ status, endsAt }: SeededOrder, now: bigint): (typeof statuses)[number] {
  const isOpen = status === "active" || status === "inactive";
  return isOpen && endsAt <= now ? "expired" : status;
}

const { punks, kin, kinSecond } = nfts;
/** Filters with which ended orders are listed, and the orders that match them. */
const selections: [string, OrderPredicate][] = [
  [`maker=${makers.carol}`, every(by(makers.carol), ofChain(1))],
  [`maker=${makers.of(1)}`, every(by(makers.of(1)), ofChain(1))],
  [`maker=${pauper}&collection=kin`, every(by(pauper), on(kin.address, kinSecond.address))],
  [`maker=${makers.carol}&chainId=33139`, every(by(makers.carol), ofChain(33139))],
  ["collection=punks&token_id=1002", every(on(punks.address), ofToken(1002n))],
  ["token_id=0", every(ofChain(1), ofToken(0n))],
  ["collection=kin&token_id=1", every(on(kin.address, kinSecond.address), ofToken(1n))],
];

const times = seedsOf([earlyEnd, openedAt, earlyEnd - 1n]);

const lists = [
  ["/v1/listings", listings, Object.keys(sorts)],
  ["/v1/bids", bids, [...Object.keys(sorts), ...Object.keys(bidSorts)]],
] as const;

describe.each(lists)("GET %s", (path, from, sortNames) => {
  it.each([...statuses, "all"])(
    "lists the orders of a maker or a token that are %s, the same by pages and by cursors",
    async (status) => {
      let found = 0;
      for (const now of times) {
        reads.at(now);
        const isShown: OrderPredicate = (order) =>
          status === "all" || shownStatus(order, now) === status;
        for (const [query, selects] of selections) {
          for (const sort of sortNames) {
            const url = `${path}?${query}&status=${status}&sort=${sort}&per_page=3`;
            const hashes = sortedHashes(from, every(selects, isShown), sort);
            const walked = await reads.readAllByCursor(url);
            expect(walked.rows.map(hashOf), url).toEqual(hashes);
            expect(walked.total, url).toBe(hashes.length);
            found += hashes.length;
          }
          const byPage = `${path}?${query}&status=${status}&per_page=3`;
          expect(await reads.readAllByPage(byPage)).toEqual(
            (await reads.readAllByCursor(byPage)).rows,
          );
        }
      }
      const hasSome = path === "/v1/listings" || (status !== "filled" && status !== "cancelled");
      expect(found > 0).toBe(hasSome);
    },
  );

  it.each(["filled", "expired", "cancelled", "all"])(
    "refuses status=%s of a whole chain or collection",
    async (status) => {
      for (const query of [`status=${status}`, `status=${status}&collection=punks`]) {
        await reads.expectRejection(`${path}?${query}`, 422, "invalid_parameters");
      }
    },
  );
});

describe("GET /v1/bids sorted by the seller's net", () => {
  it.each(Object.keys(bidSorts))("lists %s over a chain and a collection", async (sort) => {
    reads.at(openedAt);
    for (const [query, selects] of [
      ["chainId=1", ofChain(1)],
      ["collection=punks", on(punks.address)],
      ["collection=kin", on(kin.address, kinSecond.address)],
    ] as const) {
      const isActive: OrderPredicate = (order) => shownStatus(order, openedAt) === "active";
      const hashes = sortedHashes(bids, every(selects, isActive), sort);
      const walked = await reads.readAllByCursor(`/v1/bids?${query}&sort=${sort}&per_page=7`);
      expect(walked.rows.map(hashOf)).toEqual(hashes);
    }
  });

  it("is another order than that of the prices", () => {
    expect(sortedHashes(bids, ofChain(1), "seller_net_asc")).not.toEqual(
      sortedHashes(bids, ofChain(1), "price_asc"),
    );
  });

  it("is no sort of listings", async () => {
    await reads.expectRejection("/v1/listings?sort=seller_net_desc", 422, "invalid_parameters");
  });
});
