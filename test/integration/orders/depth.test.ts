import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { maxDepthOrders, readListingDepth } from "#projections/orders/read-depth.ts";
import {
  type OrderReadsFixture,
  openOrderReads,
} from "#test/support/orders/order-reads-fixture.ts";
import { earlyEnd, nfts, openedAt } from "#test/support/orders/seeded-orders.ts";

let reads: OrderReadsFixture;
beforeAll(async () => {
  reads = await openOrderReads();
});
beforeEach(() => reads.at(openedAt));
afterAll(() => reads?.close());

const Order = z.looseObject({
  priceWei: z.string(),
  marketplace: z.string().optional(),
  kind: z.string().optional(),
  quantityFillableExact: z.string().optional(),
  quantityRemainingExact: z.string(),
  sellerNetWei: z.string().optional(),
});
type Order = z.output<typeof Order>;

const Offers = z.strictObject({
  orders: z.number(),
  units: z.string(),
  unitsCumulated: z.string(),
  sellerNetWeiCumulated: z.string(),
});
const Side = <Level extends z.ZodType>(level: Level) =>
  z.strictObject({ levels: z.array(level), truncated: z.boolean() });
const Book = z.looseObject({
  listings: Side(
    z.strictObject({
      price: z.number(),
      priceWei: z.string(),
      orders: z.number(),
      units: z.string(),
      marketplaces: z.array(
        z.strictObject({ marketplace: z.string(), orders: z.number(), units: z.string() }),
      ),
      unitsCumulated: z.string(),
      weiCumulated: z.string(),
    }),
  ),
  bids: Side(
    z.strictObject({
      price: z.number(),
      priceWei: z.string(),
      bestSellerNetWei: z.string(),
      collectionOffers: Offers,
      tokenOffers: Offers,
      criteriaOffers: Offers,
    }),
  ),
});

const ordersOf = async (path: string) =>
  z.array(Order).parse((await reads.readAllByCursor(path)).rows);
const sum = (values: bigint[]) => values.reduce((total, value) => total + value, 0n);
const unitsOf = (orders: Order[]) =>
  sum(orders.map((one) => BigInt(one.quantityFillableExact ?? one.quantityRemainingExact)));
const paidFor = (orders: Order[], one: (order: Order) => string | undefined) =>
  sum(orders.map((order) => unitsOf([order]) * BigInt(one(order) ?? "0")));
const counted = (orders: Order[]) => ({ orders: orders.length, units: String(unitsOf(orders)) });
const atOrBefore = (orders: Order[], price: string, sign: bigint) =>
  orders.filter(({ priceWei }) => (BigInt(priceWei) - BigInt(price)) * sign <= 0n);
const pricesOf = (orders: Order[], sign: bigint) =>
  [...new Set(orders.map(({ priceWei }) => priceWei))].sort((one, other) =>
    (BigInt(one) - BigInt(other)) * sign < 0n ? -1 : 1,
  );

/** The sides of the book, from its orders one by one. */
function expectedLevels(listings: Order[], bids: Order[]) {
  const asks = pricesOf(listings, 1n).map((priceWei) => {
    const own = listings.filter((order) => order.priceWei === priceWei);
    const better = atOrBefore(listings, priceWei, 1n);
    const names = [...new Set(own.map(({ marketplace }) => marketplace ?? ""))].sort();
    return {
      price: Number(priceWei) / 1e18,
      priceWei,
      ...counted(own),
      marketplaces: names.map((marketplace) => ({
        marketplace,
        ...counted(own.filter((order) => order.marketplace === marketplace)),
      })),
      unitsCumulated: String(unitsOf(better)),
      weiCumulated: String(paidFor(better, (order) => order.priceWei)),
    };
  });
  const offers = pricesOf(bids, -1n).map((priceWei) => {
    const own = bids.filter((order) => order.priceWei === priceWei);
    const ofKind = (...kinds: string[]) => {
      const isOf = (order: Order) => kinds.includes(order.kind ?? "");
      const better = atOrBefore(bids, priceWei, -1n).filter(isOf);
      return {
        ...counted(own.filter(isOf)),
        unitsCumulated: String(unitsOf(better)),
        sellerNetWeiCumulated: String(paidFor(better, (order) => order.sellerNetWei)),
      };
    };
    const nets = own.map(({ sellerNetWei }) => BigInt(sellerNetWei ?? "0"));
    return {
      price: Number(priceWei) / 1e18,
      priceWei,
      bestSellerNetWei: String(nets.reduce((best, net) => (net > best ? net : best), 0n)),
      collectionOffers: ofKind("collection"),
      tokenOffers: ofKind("single-token"),
      criteriaOffers: ofKind("trait", "token-list"),
    };
  });
  return { asks, offers };
}

describe("GET /v1/collections/{collection}/depth", () => {
  const collections = ["punks", "kin", nfts.kin.address, nfts.kinSecond.address, "editions"];
  it.each(collections)("of %s is the sum of its orders", async (collection) => {
    for (const moment of [openedAt, earlyEnd]) {
      reads.at(moment);
      const listings = await ordersOf(`/v1/listings?collection=${collection}&per_page=100`);
      const bids = await ordersOf(`/v1/bids?collection=${collection}&per_page=100`);
      const { asks, offers } = expectedLevels(listings, bids);
      expect(asks.length).toBeGreaterThan(3);
      expect(offers.length).toBeGreaterThan(1);
      for (const levels of [1, 2, offers.length, asks.length, 200]) {
        const path = `/v1/collections/${collection}/depth?levels=${levels}`;
        const book = Book.parse(await reads.one(path));
        expect(book.listings).toEqual({
          levels: asks.slice(0, levels),
          truncated: asks.length > levels,
        });
        expect(book.bids).toEqual({
          levels: offers.slice(0, levels),
          truncated: offers.length > levels,
        });
      }
    }
  });

  it("knows a collection without orders, and refuses what it does not know", async () => {
    const empty = { levels: [], truncated: false };
    const book = Book.parse(await reads.one("/v1/collections/punks/depth?levels=5"));
    expect(book.currency).toEqual({ symbol: "ETH", address: `0x${"0".repeat(40)}` });
    reads.at(openedAt + 10n ** 9n);
    expect(await reads.one("/v1/collections/punks/depth")).toMatchObject({
      listings: empty,
      bids: empty,
    });
    await reads.expectRejection("/v1/collections/nowhere/depth", 404, "not_found");
    for (const levels of ["0", "201", "-1", "1.5", "x"]) {
      const path = `/v1/collections/punks/depth?levels=${levels}`;
      await reads.expectRejection(path, 422, "invalid_parameters");
    }
  });

  it("reads a bounded number of orders of one price, and says that there are more", async () => {
    const contractId = 4_000;
    await sql`
      insert into listings.listing (
        order_hash, chain_id, position, marketplace, contract_id, token_id, is_conduit_known, is_buyable, is_visible,
        is_filled_whole, last_seen_at, fillable, updated_at, standard, maker, unit_price_wei, seller_net_wei, quantity, start_time,
        end_time, counter, fees, is_contract_signed, created_at, status, filled)
      select sha256(n::text::bytea), 1, n, 'opensea', ${contractId}, n, true, true, true, true, now(), 1, now(), 721, '\\x00',
             5, 5, 1, 0, 4102444800, 0, '[]', false, now(), 'active', 0
      from generate_series(1, ${maxDepthOrders + 500}::int) n`.execute(reads.db);
    const now = new Date(Number(openedAt) * 1000);
    const { parts, isTruncated } = await readListingDepth(reads.db, [contractId], 10, now);
    expect(isTruncated).toBe(true);
    expect(parts).toMatchObject([{ part: "opensea", orders: BigInt(maxDepthOrders + 1) }]);
  });
});
