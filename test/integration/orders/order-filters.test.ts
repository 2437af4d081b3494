import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import {
  active,
  bidSorts,
  by,
  every,
  expected,
  hashOf,
  idOf,
  inactive,
  type OrderPredicate,
  type OrderReadsFixture,
  of,
  ofChain,
  ofToken,
  on,
  openOrderReads,
  priced,
  sorts,
} from "#test/support/orders/order-reads-fixture.ts";
import {
  bids,
  listings,
  makers,
  nfts,
  openedAt,
  type SeededOrder,
} from "#test/support/orders/seeded-orders.ts";

let reads: OrderReadsFixture;
beforeAll(async () => {
  reads = await openOrderReads();
  reads.at(openedAt);
});
afterAll(() => reads?.close());

type Filter = readonly [query: string, OrderPredicate];

const { punks, kin, kinSecond, editions } = nfts;
const tenthWei = 10n ** 17n;
const most = 10n ** 40n;

/** For each parameter some values; the first is that of a request without it. */
const ofBoth: Filter[][] = [
  [
    ["", active],
    ["status=inactive", inactive],
  ],
  [
    ["", ofChain(1)],
    ["collection=punks", on(punks.address)],
    ["collection=kin", on(kin.address, kinSecond.address)],
    ["collection=editions", on(editions.address)],
    ["chainId=33139", ofChain(33139)],
  ],
  [["", () => true], ...[0n, 1n, 2n, 3n, 5n].map((id): Filter => [`token_id=${id}`, ofToken(id)])],
  [
    ["", () => true],
    ...[0, 1, 2, 4].map((index): Filter => [`maker=${makers.of(index)}`, by(makers.of(index))]),
  ],
];
const ofListings: Filter[][] = [
  [
    ["", () => true],
    ["min_price=0.1", priced(tenthWei, most)],
    ["min_price=.25", priced((tenthWei * 5n) / 2n, most)],
  ],
  [
    ["", () => true],
    ["max_price=0.3", priced(0n, tenthWei * 3n)],
    ["max_price=4e-1", priced(0n, tenthWei * 4n)],
  ],
  [
    ["", () => true],
    ["marketplace=native", of("native")],
    ["marketplace=partner_a", of("opensea")],
    ["marketplace=magiceden", of("magiceden")],
  ],
];
const ofBids: Filter[][] = [
  [
    ["", () => true],
    ["kind=single-token", ({ tokenId }) => tokenId !== null],
    ["kind=collection", ({ tokenId }) => tokenId === null],
  ],
];

const drawFilters = (random: Random, parameters: readonly Filter[][]) =>
  parameters.map((values) => (random.chance(0.4) ? random.pick(values) : values[0])) as Filter[];

const lists = [
  ["/v1/listings", listings, [...ofBoth, ...ofListings], Object.keys(sorts)],
  ["/v1/bids", bids, [...ofBoth, ...ofBids], [...Object.keys(sorts), ...Object.keys(bidSorts)]],
] as const;

describe.each(lists)("GET %s", (path, from, parameters, sortNames) => {
  it("with any parameters together lists what each of them selects, with the exact total", async () => {
    const random = randomFrom(16);
    let found = 0;
    for (let draw = 0; draw < 150; draw += 1) {
      const drawn = drawFilters(random, parameters);
      const sort = random.pick(sortNames);
      const query = drawn.map(([query]) => query).filter(Boolean);
      const url = `${path}?${[...query, `sort=${sort}`, "per_page=30"].join("&")}`;
      const hashes = expected(from, every(...drawn.map(([, selects]) => selects)), sort, openedAt);
      const walked = await reads.readAllByCursor(url);
      expect(walked.rows.map(hashOf), url).toEqual(hashes);
      expect(walked.total, url).toBe(hashes.length);
      found += hashes.length > 0 ? 1 : 0;
    }
    expect(found).toBeGreaterThan(40);
  });
});

describe("an order of another chain", () => {
  /** An order's hash does not depend on its chain: some are on both. */
  const onlyOnApeChain = (from: readonly SeededOrder[]) => {
    const others = new Set(from.filter(ofChain(1)).map(({ order }) => order.orderHash));
    return from.find(
      (one) => ofChain(33139)(one) && active(one) && !others.has(one.order.orderHash),
    );
  };
  const [ask, bid] = [onlyOnApeChain(listings), onlyOnApeChain(bids)];
  const askId = ask === undefined ? "" : idOf(ask);
  const bidId = bid === undefined ? "" : idOf(bid);
  const refusal = { code: "not_found", details: [{ field: "chainId", expected: "33139" }] };

  it.each([`/v1/listings/${askId}`, `/v1/bids/${bidId}`, `/v1/orders/bids/${bidId}/components`])(
    "is refused with its chain at %s",
    async (path) => {
      const { status, body } = await reads.raw(`${path}?chainId=1`);
      expect([status, body]).toMatchObject([404, refusal]);
    },
  );

  it.each([
    [`/v1/listings/${askId}/buy-data`, { buyer: makers.of(3) }],
    [`/v1/bids/${bidId}/accept-data`, { fulfiller: makers.of(3) }],
    [`/v1/orders/bids/${bidId}/sync`, {}],
  ])("is refused with its chain where it is asked for by a body: %s", async (path, sent) => {
    const { status, body } = await reads.post(path, { chainId: 1, ...sent });
    expect([status, body]).toMatchObject([404, refusal]);
  });

  it("is not looked for elsewhere where the id is none", async () => {
    const { status, body } = await reads.raw("/v1/listings/none?chainId=1");
    expect([status, body]).toMatchObject([404, { message: "No listing none on chain 1" }]);
  });
});
