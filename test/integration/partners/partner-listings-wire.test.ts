import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wrappedNative } from "#chains/index.ts";
import { appendObservations } from "#projections/log/append.ts";
import { readCheaperNativeListings } from "#projections/orders/read-listings.ts";
import { readOpenOrderCounts } from "#projections/orders/read-maker-histories.ts";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import { addressOf } from "#test/support/database/given.ts";
import { type GivenOrder, receivedAt } from "#test/support/orders/order-facts.ts";
import {
  idOf,
  type OrderReadsFixture,
  openOrderReads,
  siteUrl,
} from "#test/support/orders/order-reads-fixture.ts";
import {
  givenPartnerOrder,
  partnerListingOf,
  seen,
  withdrawn,
} from "#test/support/orders/partner-orders.ts";
import {
  listings,
  makers,
  nfts,
  openedAt,
  pauper,
  type SeededOrder,
} from "#test/support/orders/seeded-orders.ts";

let book: OrderReadsFixture;
const { carol } = makers;
const terms = { contract: nfts.editions.address, standard: "erc1155", quantity: 5n } as const;
const order = givenPartnerOrder({
  ...{ ...terms, maker: carol, tokenId: 77n, orderType: 1 as const, isWrapped: true },
  unitPriceWei: 2n * 10n ** 18n,
});
const shown = {
  ...partnerListingOf("magiceden", order),
  fees: [
    { recipient: addressOf(0xa), unitWei: 5n * 10n ** 16n, kind: "service" as const },
    { recipient: addressOf(0xb), unitWei: 10n ** 17n, kind: "royalty" as const },
    { recipient: addressOf(0xc), unitWei: 2n * 10n ** 16n, kind: "other" as const },
  ],
};

async function open(): Promise<OrderReadsFixture> {
  const opened = await openOrderReads();
  opened.at(openedAt);
  const minuteMs = Number(receivedAt) * 1000 + 40_000;
  const priceE8 = 2_500_50000000n;
  await appendObservations(opened.db, [
    seen(shown),
    priceTicked({ coin: "ethereum", minuteMs, priceE8, sources: [] }),
  ]);
  await opened.catchUp();
  return opened;
}
beforeAll(async () => {
  book = await open();
});
afterAll(() => book?.close());

const some = (keep: (one: SeededOrder) => boolean) => {
  const found = listings.find((one) => one.contract.chainId === 1 && keep(one));
  if (found === undefined) throw new Error("the book has none");
  return found;
};

describe("GET /v1/listings/{askId} of a partner's listing", () => {
  it("tells its marketplace, price in the wrapped currency, USD, fees and links", async () => {
    const askId = `magiceden-${order.orderHash}`;
    expect(await book.one(`/v1/listings/${askId}`)).toMatchObject({
      ...{ askId, marketplace: "magiceden", buyableViaApi: true, status: "active" },
      ...{ price: 2, priceWei: String(2n * 10n ** 18n), usd: 5001 },
      currency: { symbol: "WETH", address: wrappedNative[1] },
      ...{ quantity: 5, quantityRemaining: 5, quantityFillable: 5 },
      ...{ feeBps: 250, royaltyBps: 500 },
      fees: [
        { recipient: addressOf(0xa), bps: 250, kind: "service" },
        { recipient: addressOf(0xb), bps: 500, kind: "royalty" },
        { recipient: addressOf(0xc), bps: 100, kind: "other" },
      ],
      protocol: { name: "seaport", version: "1.6" },
      urls: { listing: `${siteUrl}/listings/${askId}?chainId=1` },
    });
  });

  it.each(["native", "opensea", "magiceden"] as const)(
    "is found under the id of %s in any case, and under no other's",
    async (marketplace) => {
      const one = some((listing) => listing.marketplace === marketplace);
      const { orderHash } = one.order;
      const ids = [`mkt-${orderHash}`, orderHash, `magiceden-${orderHash}`, `opensea-${orderHash}`];
      const shouted = idOf(one).replace(orderHash, `0X${orderHash.slice(2).toUpperCase()}`);
      expect(await book.one(`/v1/listings/${shouted}`)).toMatchObject({
        ...{ askId: idOf(one), marketplace, orderHash },
      });
      for (const id of ids.filter((other) => other !== idOf(one))) {
        await book.expectRejection(`/v1/listings/${id}`, 404, "not_found");
      }
    },
  );

  it("is not an order of ours: no sync and no components", async () => {
    const { orderHash } = some(({ marketplace }) => marketplace === "opensea").order;
    for (const id of [orderHash, `mkt-${orderHash}`]) {
      await book.expectRejection(`/v1/orders/asks/${id}/components`, 404, "not_found");
    }
  });

  it("says whether it can be bought here as long as it is active", async () => {
    for (const one of listings.filter(({ contract }) => contract.chainId === 1)) {
      const row = await book.one(`/v1/listings/${idOf(one)}`);
      expect(row).toMatchObject({
        status: one.status,
        buyableViaApi: one.status === "active" && one.isBuyable,
      });
    }
  });

  it("is hidden with its reason when the partner withdraws it, also from its token and the floor", async () => {
    const gone = await open();
    try {
      const floor = async () =>
        (await gone.one("/v1/collections/punks")).stats as { floor: { askId: string } };
      const cheapest = await gone.list("/v1/listings?collection=punks&marketplace=opensea");
      const [first] = listings.filter(
        ({ order }) => order.orderHash === cheapest.data[0]?.orderHash,
      );
      if (first === undefined) throw new Error("nothing is shown");
      const cheaper = (await floor()).floor.askId;
      const token = `/v1/collections/punks/tokens/${first.tokenId}`;
      await appendObservations(gone.db, [withdrawn(partnerListingOf("opensea", first.order))]);
      await gone.catchUp();

      expect(await gone.one(`/v1/listings/${idOf(first)}`)).toMatchObject({
        ...{ status: "inactive", invalidReason: "partner_invalidated", buyableViaApi: false },
      });
      expect((await gone.one(token)).listing).not.toMatchObject({ askId: idOf(first) });
      expect(
        (await gone.list("/v1/listings?collection=punks&marketplace=opensea")).meta.total,
      ).toBe(cheapest.meta.total - 1);
      const after = (await floor()).floor.askId;
      expect(after === cheaper).toBe(cheaper !== idOf(first));
    } finally {
      await gone.close();
    }
  });
});

describe("a token's listing", () => {
  it("is the cheapest of any marketplace", async () => {
    const onPunks = listings.filter(
      ({ contract, status }) => contract === nfts.punks && status === "active",
    );
    for (const tokenId of new Set(onPunks.map((one) => one.tokenId))) {
      const [cheapest] = onPunks
        .filter((one) => one.tokenId === tokenId)
        .sort((a, b) => Number(a.priceWei - b.priceWei));
      const { listing } = await book.one(`/v1/collections/punks/tokens/${tokenId}`);
      expect(listing).toMatchObject({
        askId: cheapest && idOf(cheapest),
        marketplace: cheapest?.marketplace,
      });
    }
  });
});

describe("what partners show of a maker's", () => {
  const now = new Date(Number(openedAt) * 1000);
  const own = (keep: (one: SeededOrder) => boolean): GivenOrder[] =>
    listings
      .filter((one) => one.marketplace === "native" && one.contract.chainId === 1 && keep(one))
      .map((one) => one.order);

  it("counts for none of the house's limits", async () => {
    const maker = makers.of(1);
    const mine = own((one) => one.maker === maker && one.endsAt > openedAt);
    const counts = await readOpenOrderCounts(book.db, 1, [maker], now);
    const bids = await book.list(`/v1/bids?maker=${maker}`);
    expect(counts.get(maker)).toBe(mine.length + bids.meta.total);
  });

  it("does not keep its maker from asking more here", async () => {
    const partner = some(({ marketplace, contract, maker }) => {
      return marketplace === "opensea" && contract === nfts.punks && maker !== pauper;
    });
    const { maker, contract, tokenId } = partner;
    const asked = {
      ...{ maker, contract: contract.address, tokenId: tokenId ?? 0n },
      unitPriceWei: 10n ** 30n,
    };
    const cheaper = await readCheaperNativeListings(book.db, 1, [asked], now);
    const mine = own(
      (one) => one.maker === maker && one.tokenId === tokenId && one.contract === contract,
    );
    expect(cheaper.map(({ orderHash }) => orderHash)).toEqual(
      mine.map(({ orderHash }) => orderHash),
    );
  });
});
