import type { Address } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { appendObservations } from "#projections/log/append.ts";
import { readCheaperNativeListings } from "#projections/orders/read-listings.ts";
import { addressOf, zeroAddress } from "#test/support/database/given.ts";
import { itLists } from "#test/support/http/list-cases.ts";
import { feeRecipient, ticked } from "#test/support/orders/order-facts.ts";
import {
  active,
  by,
  every,
  expected,
  filters,
  hashOf,
  idOf,
  inactive,
  none,
  type OrderReadsFixture,
  of,
  ofChain,
  ofToken,
  on,
  openOrderReads,
  priced,
  siteUrl,
} from "#test/support/orders/order-reads-fixture.ts";
import {
  earlyEnd,
  listings,
  makers,
  nfts,
  openedAt,
  pauper,
  rivals,
  special,
} from "#test/support/orders/seeded-orders.ts";

const { punks, editions } = nfts;

let reads: OrderReadsFixture;
beforeAll(async () => {
  reads = await openOrderReads();
});
beforeEach(() => reads.at(openedAt));
afterAll(() => reads?.close());

describe("GET /v1/listings", () => {
  itLists(() => reads, "/v1/listings", listings, [
    ...filters,
    [`status=inactive&maker=${makers.carol}`, every(inactive, ofChain(1), by(makers.carol))],
    ["token_id=5&chainId=33139", every(active, ofChain(33139), ofToken(5n))],
    ["token_id=2&marketplace=opensea", every(active, ofChain(1), ofToken(2n), of("opensea"))],
    ["min_price=0.25", every(active, ofChain(1), priced(25n * 10n ** 16n, 10n ** 30n))],
    ["max_price=0.1", every(active, ofChain(1), priced(0n, 10n ** 17n))],
    [
      "min_price=0.1&max_price=0.100000000000000000",
      every(active, ofChain(1), priced(10n ** 17n, 10n ** 17n)),
    ],
    [
      "min_price=0.123456789012345678&max_price=0.123456789012345678",
      every(active, by(makers.carol), on(editions.address)),
    ],
    ["min_price=0.123456789012345679&max_price=0.123456789012345679", none],
    [
      "collection=punks&min_price=0.05&max_price=0.4",
      every(active, on(punks.address), priced(5n * 10n ** 16n, 4n * 10n ** 17n)),
    ],
    [
      `maker=${makers.of(2)}&min_price=0.05&max_price=0.4`,
      every(active, by(makers.of(2)), priced(5n * 10n ** 16n, 4n * 10n ** 17n)),
    ],
    ["min_price=2&max_price=1", none],
    ["marketplace=native", every(active, ofChain(1), of("native"))],
    ["marketplace=all", every(active, ofChain(1))],
    ["marketplace=opensea", every(active, ofChain(1), of("opensea"))],
    ["marketplace=partner_a&collection=punks", every(active, on(punks.address), of("opensea"))],
    [
      `marketplace=partner_a&maker=${makers.of(2)}`,
      every(active, ofChain(1), by(makers.of(2)), of("opensea")),
    ],
    [
      "marketplace=partner_b&max_price=0.3",
      every(active, ofChain(1), of("magiceden"), priced(0n, 3n * 10n ** 17n)),
    ],
    ["marketplace=magiceden&status=inactive", every(inactive, ofChain(1), of("magiceden"))],
    ["marketplace=magiceden&chainId=33139", none],
  ]);

  it("lists active listings, cheapest first, by default", async () => {
    const { data, meta } = await reads.list("/v1/listings");
    const all = expected(listings, every(active, ofChain(1)), "price_asc", openedAt);
    expect(data.map(hashOf)).toEqual(all.slice(0, 50));
    expect(meta).toMatchObject({ chainId: 1, total: all.length, page: 1, per_page: 50 });
  });

  it("answers the same before and after the clock tick that ends orders", async () => {
    const late = await openOrderReads();
    late.at(earlyEnd);
    const ended = listings.filter(({ endsAt }) => endsAt === earlyEnd).slice(0, 3);
    const paths = [
      ...["/v1/listings", "/v1/bids"].flatMap((path) => [
        `${path}?per_page=100`,
        `${path}?status=inactive`,
        `${path}?maker=${makers.of(1)}`,
      ]),
      ...ended.map((listing) => `/v1/listings/${idOf(listing)}`),
      `/v1/bids/${idOf(rivals.onToken)}`,
      "/v1/collections/punks/tokens/0",
    ];
    try {
      const before = await Promise.all(paths.map(late.answer));
      await appendObservations(late.db, [ticked(earlyEnd)]);
      await late.catchUp();
      expect(await Promise.all(paths.map(late.answer))).toEqual(before);
    } finally {
      await late.close();
    }
  });

  it.each([
    ["collection=punks&token_id=-1", "invalid_parameters"],
    ["maker=0x12", "invalid_parameters"],
    ["maker=carol", "invalid_parameters"],
    ["status=filled", "invalid_parameters"],
    ["sort=price", "invalid_parameters"],
    ["min_price=-1", "invalid_parameters"],
    ["min_price=1e1000", "invalid_parameters"],
    ["max_price=0x10", "invalid_parameters"],
    [`max_price=${"9".repeat(61)}`, "invalid_parameters"],
    ["max_price=", "invalid_parameters"],
    ["marketplace=blur", "invalid_parameters"],
    ["per_page=101", "invalid_parameters"],
    ["page=1&cursor=abc", "invalid_parameters"],
    ["page=201", "use_cursor"],
    ["cursor=abc", "invalid_cursor"],
    ["chainId=5", "unsupported_chain"],
  ])("422 for %s", async (query, code) => {
    await reads.expectRejection(`/v1/listings?${query}`, 422, code);
  });

  it("422 invalid_cursor for a cursor of another sort, filter or list, or tampered with", async () => {
    const { meta } = await reads.list("/v1/listings?per_page=5&sort=price_asc");
    const cursor = meta.next_cursor ?? "";
    for (const query of [
      "sort=price_desc",
      "sort=created_at",
      "collection=punks",
      "status=inactive",
      "min_price=0.1",
      "marketplace=native",
      `maker=${makers.of(1)}`,
      "chainId=33139",
    ]) {
      await reads.expectRejection(`/v1/listings?${query}&cursor=${cursor}`, 422, "invalid_cursor");
    }
    await reads.expectRejection(`/v1/bids?sort=price_asc&cursor=${cursor}`, 422, "invalid_cursor");
    for (let at = 0; at < cursor.length; at += 7) {
      const tampered =
        cursor.slice(0, at) + (cursor[at] === "A" ? "B" : "A") + cursor.slice(at + 1);
      await reads.expectRejection(`/v1/listings?cursor=${tampered}`, 422, "invalid_cursor");
    }
  });

  it.each(["none", addressOf(7), "a%00b"])("404 not_found for collection %s", async (key) => {
    await reads.expectRejection(`/v1/listings?collection=${key}`, 404, "not_found");
  });
});

describe("GET /v1/listings/{askId}", () => {
  it("presents price, units, times, fees and links", async () => {
    const { order } = special.partlyFilled;
    expect(await reads.one(`/v1/listings/mkt-${order.orderHash}`)).toEqual({
      askId: `mkt-${order.orderHash}`,
      marketplace: "native",
      buyableViaApi: true,
      chainId: 1,
      orderHash: order.orderHash,
      status: "active",
      maker: makers.carol,
      collection: { address: editions.address, slug: "editions", name: "EDITIONS" },
      contract: editions.address,
      standard: "erc1155",
      price: 0.12345678901234568,
      priceWei: "123456789012345678",
      currency: { symbol: "ETH", address: zeroAddress },
      usd: null,
      quantity: 10,
      quantityExact: "10",
      quantityFilled: 4,
      quantityFilledExact: "4",
      quantityRemaining: 6,
      quantityRemainingExact: "6",
      startsAt: "2023-11-14T22:13:20.000Z",
      expiresAt: "2023-11-15T22:13:20.000Z",
      createdAt: "2023-11-14T22:13:20.000Z",
      updatedAt: expect.any(String),
      feeBps: 100,
      royaltyBps: 0,
      fees: [{ recipient: feeRecipient, wei: "1234567890123456", bps: 100, kind: "service" }],
      protocol: { name: "seaport", version: "1.6", address: seaportAddresses["1.6"] },
      tokenId: "77",
      quantityFillable: 6,
      quantityFillableExact: "6",
      invalidReason: null,
      urls: {
        collection: `${siteUrl}/collections/editions?chainId=1`,
        token: `${siteUrl}/collections/${editions.address}/tokens/77?chainId=1`,
        listing: `${siteUrl}/listings/mkt-${order.orderHash}?chainId=1`,
        maker: `${siteUrl}/wallets/${makers.carol}?chainId=1`,
      },
    });
  });

  it.each([
    ["superseded", { status: "inactive", invalidReason: "superseded", buyableViaApi: false }],
    ["cheaper", { status: "active", invalidReason: null, buyableViaApi: true }],
    ["cancelled", { status: "cancelled", invalidReason: null, buyableViaApi: false }],
    ["filled", { status: "filled", quantityRemaining: 0, quantityFillable: 0 }],
    ["mirror", { status: "inactive", invalidReason: "not_owner" }],
  ] as const)("presents one that is %s", async (fate, shown) => {
    expect(await reads.one(`/v1/listings/${idOf(special[fate])}`)).toMatchObject(shown);
  });

  it("presents one that is not approved", async () => {
    const hidden = listings.find(by(pauper));
    expect(hidden && (await reads.one(`/v1/listings/${idOf(hidden)}`))).toMatchObject({
      status: "inactive",
      invalidReason: "not_approved",
    });
  });

  it("is expired from its end time on, whatever its status before", async () => {
    for (const listing of listings.filter(({ endsAt }) => endsAt === earlyEnd)) {
      const path = `/v1/listings/${idOf(listing)}`;
      reads.at(earlyEnd - 1n);
      expect(await reads.one(path)).toMatchObject({ status: listing.status });
      reads.at(earlyEnd);
      expect(await reads.one(path)).toMatchObject({
        status: "expired",
        invalidReason: null,
        buyableViaApi: false,
        quantityFillable: 0,
        updatedAt: new Date(Number(earlyEnd) * 1000).toISOString(),
      });
    }
  });

  it("distinguishes orders with one hash on two chains", async () => {
    const { mirror, mirrored } = special;
    expect(mirror.order.orderHash).toBe(mirrored.order.orderHash);
    expect(await reads.one(`/v1/listings/${idOf(mirror)}`)).toMatchObject({
      chainId: 1,
      status: "inactive",
      currency: { symbol: "ETH" },
      collection: { address: nfts.mirror.address, slug: null, name: null },
    });
    expect(await reads.one(`/v1/listings/${idOf(mirror)}?chainId=33139`)).toMatchObject({
      chainId: 33139,
      status: "active",
      currency: { symbol: "APE" },
    });
  });

  it("accepts the hash in upper and lower case", async () => {
    const { orderHash } = special.cheaper.order;
    const shouted = `mkt-0X${orderHash.slice(2).toUpperCase()}`;
    expect(await reads.one(`/v1/listings/${shouted}`)).toMatchObject({ askId: `mkt-${orderHash}` });
  });

  const { orderHash } = special.cheaper.order;
  it.each([
    orderHash,
    `MKT-${orderHash}`,
    `other-${orderHash}`,
    `mkt-${orderHash.slice(2)}`,
    `mkt-${orderHash}0`,
    `mkt-0x${"00".repeat(32)}`,
    `mkt-${rivals.onToken.order.orderHash}`,
    `mkt-${orderHash}?chainId=33139`,
    "mkt-",
    "x",
  ])("404 not_found for %s", async (id) => {
    await reads.expectRejection(`/v1/listings/${id}`, 404, "not_found");
  });

  it("422 for a malformed id", async () => {
    await reads.expectRejection(`/v1/listings/${"x".repeat(201)}`, 422, "invalid_parameters");
    await reads.expectRejection("/v1/listings/mkt-%00", 422, "invalid_parameters");
  });
});

describe("a maker's own cheaper listings", () => {
  const asked = (unitPriceWei: bigint, maker: Address = makers.carol) => ({
    maker,
    contract: punks.address,
    tokenId: 1000n,
    unitPriceWei,
  });
  const read = async (...prices: ReturnType<typeof asked>[]) => {
    const now = new Date(Number(openedAt) * 1000);
    const rows = await readCheaperNativeListings(reads.db, 1, prices, now);
    return rows.map(({ orderHash }) => orderHash).sort();
  };
  const [cheaper, superseded] = [
    special.cheaper.order.orderHash,
    special.superseded.order.orderHash,
  ];

  it("are those that could be bought for less, superseded ones included", async () => {
    const wei = special.cheaper.priceWei;
    expect(await read(asked(wei))).toEqual([]);
    expect(await read(asked(wei + 1n))).toEqual([cheaper]);
    expect(await read(asked(wei + 1n), asked(wei * 2n))).toEqual([cheaper, superseded].sort());
    expect(await read(asked(wei * 2n, makers.of(1)))).toEqual([]);
  });

  it("exclude cancelled, filled and expired ones", async () => {
    const spent = [special.cancelled, special.filled].map(({ tokenId }) => ({
      ...asked(10n ** 20n),
      tokenId: tokenId ?? 0n,
    }));
    expect(await read(...spent)).toEqual([]);
    const late = new Date(Number(special.cheaper.endsAt) * 1000);
    expect(await readCheaperNativeListings(reads.db, 1, [asked(10n ** 20n)], late)).toEqual([]);
  });
});
