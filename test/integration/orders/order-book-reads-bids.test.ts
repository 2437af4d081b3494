import type { Address } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { itLists } from "#test/support/http/list-cases.ts";
import {
  active,
  by,
  every,
  expected,
  filters,
  hashOf,
  idOf,
  none,
  type OrderPredicate,
  type OrderReadsFixture,
  ofChain,
  ofToken,
  on,
  openOrderReads,
  siteUrl,
} from "#test/support/orders/order-reads-fixture.ts";
import {
  bids,
  earlyEnd,
  listings,
  makers,
  nfts,
  openedAt,
  pauper,
  rivals,
  type SeededOrder,
  special,
} from "#test/support/orders/seeded-orders.ts";

const [punks, kin, kinSecond, editions] = [
  nfts.punks.address,
  nfts.kin.address,
  nfts.kinSecond.address,
  nfts.editions.address,
];

let reads: OrderReadsFixture;
beforeAll(async () => {
  reads = await openOrderReads();
});
beforeEach(() => reads.at(openedAt));
afterAll(() => reads?.close());

describe("GET /v1/bids", () => {
  const isItem: OrderPredicate = ({ tokenId }) => tokenId !== null;
  const isCollection: OrderPredicate = ({ tokenId }) => tokenId === null;
  itLists(() => reads, "/v1/bids", bids, [
    ...filters,
    ["kind=collection", every(active, ofChain(1), isCollection)],
    ["kind=single-token", every(active, ofChain(1), isItem)],
    ["kind=collection&collection=kin", every(active, on(kin, kinSecond), isCollection)],
    ["kind=collection&collection=punks&token_id=1", none],
    [`kind=single-token&maker=${makers.of(0)}`, every(active, isItem, by(makers.of(0)))],
  ]);

  it("lists active bids, highest first, by default", async () => {
    const { data, meta } = await reads.list("/v1/bids");
    const all = expected(bids, every(active, ofChain(1)), "price_desc", openedAt);
    expect(data.map(hashOf)).toEqual(all.slice(0, 50));
    expect(meta.total).toBe(all.length);
  });

  it.each([
    ["kind=item", "invalid_parameters"],
    ["status=expired", "invalid_parameters"],
    ["sort=net", "invalid_parameters"],
    ["maker=1", "invalid_parameters"],
    ["page=101&per_page=100", "use_cursor"],
    ["cursor=", "invalid_cursor"],
    ["chainId=0", "unsupported_chain"],
  ])("422 for %s", async (query, code) => {
    await reads.expectRejection(`/v1/bids?${query}`, 422, code);
  });

  it("404 not_found for an unknown collection", async () => {
    await reads.expectRejection("/v1/bids?collection=none", 404, "not_found");
  });
});

describe("GET /v1/bids/{bidId}", () => {
  it("presents amount, net proceeds, kind and links", async () => {
    const { order } = rivals.onToken;
    expect(await reads.one(`/v1/bids/mkt-${order.orderHash}`)).toMatchObject({
      bidId: `mkt-${order.orderHash}`,
      kind: "single-token",
      status: "active",
      inactiveReason: null,
      contract: punks,
      tokenId: "500",
      maker: makers.carol,
      price: 0.6,
      priceWei: "600000000000000000",
      amountWei: "600000000000000000",
      sellerNetWei: "594000000000000000",
      currency: { symbol: "WETH", address: wrappedNative[1] },
      feeBps: 100,
      quantity: 1,
      quantityRemaining: 1,
      urls: {
        collection: `${siteUrl}/collections/punks?chainId=1`,
        token: `${siteUrl}/collections/${punks}/tokens/500?chainId=1`,
        bid: `${siteUrl}/bids/mkt-${order.orderHash}?chainId=1`,
        maker: `${siteUrl}/wallets/${makers.carol}?chainId=1`,
      },
    });
  });

  it("has no token for a collection bid", async () => {
    const bid = await reads.one(`/v1/bids/${idOf(rivals.onCollection)}`);
    expect(bid).toMatchObject({ kind: "collection", tokenId: null });
    expect(bid.urls).not.toHaveProperty("token");
  });

  it("presents the reason for being inactive, and that it has expired", async () => {
    const hidden = bids.find(by(pauper));
    expect(hidden && (await reads.one(`/v1/bids/${idOf(hidden)}`))).toMatchObject({
      status: "inactive",
      inactiveReason: "insufficient_balance",
    });
    reads.at(earlyEnd);
    expect(await reads.one(`/v1/bids/${idOf(rivals.onToken)}`)).toMatchObject({
      status: "expired",
      inactiveReason: null,
    });
  });

  it("404 not_found for the id of a listing, of another chain, and an unknown one", async () => {
    await reads.expectRejection(`/v1/bids/${idOf(special.cheaper)}`, 404, "not_found");
    await reads.expectRejection(`/v1/bids/${idOf(rivals.onToken)}?chainId=33139`, 404, "not_found");
    await reads.expectRejection("/v1/bids/best2", 404, "not_found");
  });
});

describe("GET /v1/bids/best", () => {
  const ofBid = (bid: SeededOrder | undefined) =>
    bid === undefined ? null : expect.objectContaining({ bidId: idOf(bid) });

  it("is the one with the highest net proceeds, until it has ended", async () => {
    const item = ofBid(rivals.onToken);
    const collection = ofBid(rivals.onCollection);
    const path = "/v1/bids/best?collection=punks&tokenId=500";
    expect(await reads.one(path)).toEqual({
      chainId: 1,
      collection: { address: punks, slug: "punks", name: "PUNKS" },
      tokenId: "500",
      best: item,
      itemOffer: item,
      collectionOffer: collection,
      criteriaOffer: null,
    });
    reads.at(earlyEnd);
    expect(await reads.one(path)).toMatchObject({
      best: collection,
      itemOffer: null,
      collectionOffer: collection,
    });
  });

  it("is on the contract with the unburned token for a slug, on the given contract for an address", async () => {
    const highest = (contract: Address, tokenId: bigint | null) =>
      ofBid(
        bids.find(
          ({ order }) =>
            order.orderHash ===
            expected(
              bids,
              every(active, on(contract), (bid) => bid.tokenId === tokenId),
              "price_desc",
              openedAt,
            )[0],
        ),
      );
    // Token 6 was minted in the second contract of the collection only.
    for (const [key, contract] of [
      ["kin", kinSecond],
      [kinSecond, kinSecond],
    ] as const) {
      expect(await reads.one(`/v1/bids/best?collection=${key}&tokenId=6`)).toMatchObject({
        itemOffer: highest(contract, 6n),
        collectionOffer: highest(contract, null),
      });
    }
    // Nobody can sell a token that was never minted.
    for (const path of [`collection=${kin}&tokenId=6`, "collection=punks&tokenId=424242424242"])
      expect(await reads.one(`/v1/bids/best?${path}`)).toMatchObject({
        best: null,
        itemOffer: null,
        collectionOffer: null,
      });
  });

  it("is null without a bid", async () => {
    expect(await reads.one("/v1/bids/best?collection=apes&tokenId=1&chainId=33139")).toMatchObject({
      best: null,
      itemOffer: null,
      collectionOffer: null,
    });
  });

  it("rejects an unknown collection, and a missing or invalid id", async () => {
    await reads.expectRejection("/v1/bids/best?collection=none&tokenId=1", 404, "not_found");
    await reads.expectRejection("/v1/bids/best?collection=punks", 422, "invalid_parameters");
    await reads.expectRejection("/v1/bids/best?tokenId=1", 422, "invalid_parameters");
    await reads.expectRejection(
      "/v1/bids/best?collection=punks&tokenId=0x1",
      422,
      "invalid_parameters",
    );
  });
});

describe("GET /v1/orders/asks|bids/{id}/components", () => {
  const plain = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (_, item) => (typeof item === "bigint" ? `${item}` : item)));

  it.each([
    ["asks", "askId", special.cheaper, "active"],
    ["asks", "askId", special.cancelled, "cancelled"],
    ["asks", "askId", special.filled, "filled"],
    ["asks", "askId", special.superseded, "inactive"],
    ["bids", "bidId", rivals.onCollection, "active"],
  ] as const)("are as signed: %s, %s", async (side, name, order, status) => {
    expect(await reads.one(`/v1/orders/${side}/${idOf(order)}/components`)).toEqual({
      [name]: idOf(order),
      orderHash: order.order.orderHash,
      chainId: 1,
      status,
      protocolAddress: seaportAddresses["1.6"],
      components: plain(order.order.components),
      signature: `0x${"11".repeat(65)}`,
      opensea: null,
    });
  });

  it("are those of the requested chain", async () => {
    const path = `/v1/orders/asks/${idOf(special.mirror)}/components`;
    expect(await reads.one(path)).toMatchObject({ chainId: 1, status: "inactive" });
    expect(await reads.one(`${path}?chainId=33139`)).toMatchObject({
      chainId: 33139,
      status: "active",
    });
  });

  it("404 not_found for an unknown id and for an id of the other side", async () => {
    const paths = [
      `/v1/orders/asks/${idOf(rivals.onToken)}/components`,
      `/v1/orders/bids/${idOf(special.cheaper)}/components`,
      `/v1/orders/asks/${idOf(special.cheaper)}/components?chainId=33139`,
      "/v1/orders/asks/x/components",
    ];
    for (const path of paths) await reads.expectRejection(path, 404, "not_found");
  });

  it("422 unsupported_chain", async () => {
    const path = `/v1/orders/asks/${idOf(special.cheaper)}/components?chainId=2`;
    await reads.expectRejection(path, 422, "unsupported_chain");
  });
});

describe("GET /v1/collections/{collection}/tokens/{tokenId}", () => {
  it("presents the cheapest active listing and the best bid", async () => {
    expect(await reads.one("/v1/collections/punks/tokens/1000")).toMatchObject({
      listing: {
        askId: idOf(special.cheaper),
        marketplace: "native",
        price: 4,
        priceWei: "4000000000000000000",
        currency: { symbol: "ETH" },
        maker: makers.carol,
      },
      bestOffer: {
        bidId: idOf(rivals.onCollection),
        kind: "collection",
        sellerNetWei: "495000000000000000",
      },
    });
  });

  it("skips ended orders, and is null when none is left", async () => {
    const path = "/v1/collections/editions/tokens/0";
    const cheapest = (time: bigint) =>
      expected(listings, every(active, on(editions), ofToken(0n)), "price_asc", time)[0];
    for (const time of [openedAt, earlyEnd]) {
      reads.at(time);
      expect(await reads.one(path)).toMatchObject({ listing: { askId: `mkt-${cheapest(time)}` } });
    }
    expect(await reads.one("/v1/collections/punks/tokens/1002")).toMatchObject({ listing: null });
  });
});
