import { type Address, getAddress, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { wrappedNative } from "#chains/index.ts";
import { translateSales, translateTransaction } from "../translate-sales.ts";
import type { OrderTransaction } from "./orders.ts";
import {
  erc20,
  factsOf,
  fulfilled,
  matchOf,
  native,
  nft,
  recordedTrades,
  to,
  transaction,
} from "./seaport.fixture.ts";

const ours = account("fee");
const alice = account("a11ce");
const bob = account("b0b");
const carol = account("ca401");
const creator = account("c4ea");
const apes = account("a9e5");
const weth = wrappedNative[1];
const salesOf = (given: OrderTransaction) => translateSales(factsOf(given), ours);

function account(digits: string): Address {
  const hex = [...digits].map((digit) => (/[0-9a-f]/.test(digit) ? digit : "e")).join("");
  return getAddress(`0x${hex.padStart(40, "0")}`).toLowerCase() as Address;
}

/** Alice's listing of ape 7 at 100 wei: 92 to her, 3 to us, 5 to the creator. */
function listing(logIndex = 5) {
  return fulfilled({
    logIndex,
    offerer: alice,
    recipient: bob,
    offer: [nft(apes, "7")],
    consideration: [to(alice, native(92n)), to(ours, native(3n)), to(creator, native(5n))],
  });
}

/** Bob's bid of `wei` for an ape, and the seller's unsigned counterpart. */
function acceptedBid(logIndex: number, seller: Address, tokenId: string, wei = 100n) {
  const ape = nft(apes, tokenId);
  const bid = fulfilled({
    logIndex,
    offerer: bob,
    recipient: seller,
    offer: [erc20(wei)],
    consideration: [to(bob, ape), to(ours, erc20(3n)), to(creator, erc20(5n))],
  });
  const mirror = fulfilled({
    logIndex: logIndex + 1,
    offerer: seller,
    recipient: seller,
    offer: [ape],
    consideration: [to(seller, erc20(wei - 8n))],
  });
  return [bid, mirror] as const;
}

describe("translateSales", () => {
  it.each(Object.entries(recordedTrades))(
    "reads the recorded %s as its transfers show",
    (_, trade) => {
      const sales = salesOf(trade.transaction);
      const [maker] = trade.transaction.orders;
      const fees = sales.flatMap((sale) => sale.fees);

      expect(sales.reduce((sum, sale) => sum + sale.totalWei, 0n)).toBe(trade.paidWei);
      for (const sale of sales) {
        expect(sale).toMatchObject({ seller: trade.seller, buyer: trade.buyer });
        expect(sale).toMatchObject({ orderHash: maker?.orderHash, logIndex: maker?.logIndex });
        expect(sale.marketplace).toBe("opensea");
      }
      expect(new Set(fees.map((fee) => fee.recipient))).toEqual(
        new Set(Object.keys(trade.paidAway)),
      );
      for (const [recipient, wei] of Object.entries(trade.paidAway)) {
        const received = fees.filter((fee) => fee.recipient === recipient);
        expect(received.reduce((sum, fee) => sum + fee.wei, 0n)).toBe(wei);
      }
    },
  );

  it("sells to the recipient, for all that the buyer pays", () => {
    expect(salesOf(transaction([listing()]))).toMatchObject([
      {
        ordinal: 0,
        contract: apes,
        tokenId: "7",
        quantity: 1n,
        priceWei: 100n,
        totalWei: 100n,
        currency: zeroAddress,
        seller: alice,
        buyer: bob,
        side: "ask",
        marketplace: "native",
        protocolVersion: "1.6",
        bundle: null,
        fees: [
          { recipient: ours, wei: 3n, bps: 300, kind: "service" },
          { recipient: creator, wei: 5n, bps: 500, kind: "other" },
        ],
      },
    ]);
  });

  it("counts a tip into the price, and names a large one neither service nor royalty", () => {
    const order = listing();
    const tipped = { ...order, consideration: [...order.consideration, to(carol, native(25n))] };

    const [sale] = salesOf(transaction([tipped]));

    expect(sale?.totalWei).toBe(125n);
    expect(sale?.fees.at(-1)).toEqual({ recipient: carol, wei: 25n, bps: 2000, kind: "other" });
  });

  it("prices a bid by what the bidder gives, whoever pays the fees", () => {
    const [bid] = acceptedBid(3, alice, "7");

    expect(salesOf(transaction([bid], { sender: alice }))).toMatchObject([
      {
        side: "bid",
        seller: alice,
        buyer: bob,
        totalWei: 100n,
        currency: weth,
        fees: [{ wei: 3n }, { wei: 5n }],
      },
    ]);
  });

  it("names as buyer whom the bid names as recipient", () => {
    const [bid] = acceptedBid(3, alice, "7");
    const gift = { ...bid, consideration: [to(carol, nft(apes, "7"))] };

    expect(salesOf(transaction([gift]))).toMatchObject([{ buyer: carol, seller: alice }]);
  });

  it("makes one sale of a bid and its mirror, with OrdersMatched and without", () => {
    const orders = acceptedBid(3, alice, "7");
    const expected = [
      {
        side: "bid",
        seller: alice,
        buyer: bob,
        totalWei: 100n,
        orderHash: orders[0].orderHash,
        logIndex: 3,
        fees: [
          { recipient: ours, wei: 3n },
          { recipient: creator, wei: 5n },
        ],
      },
    ];

    expect(salesOf(transaction(orders))).toMatchObject(expected);
    expect(salesOf(transaction(orders, { matches: [matchOf(orders)] }))).toMatchObject(expected);
  });

  it("recognises a match of Seaport 1.1 by its missing recipient", () => {
    const [bid, ask] = acceptedBid(3, alice, "7").map(
      (order) => ({ ...order, version: "1.1", recipient: zeroAddress }) as const,
    );
    if (!bid || !ask) throw new Error("two orders expected");

    expect(salesOf(transaction([ask, { ...bid, logIndex: 5 }], { sender: carol }))).toMatchObject([
      { side: "ask", seller: alice, buyer: bob, totalWei: 100n, orderHash: ask.orderHash },
    ]);
    expect(salesOf(transaction([bid, ask], { sender: alice }))).toMatchObject([
      { side: "bid", seller: alice, buyer: bob, totalWei: 100n, orderHash: bid.orderHash },
    ]);
  });

  it("recognises a mirror that comes first in the log", () => {
    const [bid, mirror] = acceptedBid(3, alice, "7");
    const orders = [
      { ...mirror, logIndex: 3 },
      { ...bid, logIndex: 4 },
    ];

    expect(salesOf(transaction(orders))).toMatchObject([{ side: "bid", orderHash: bid.orderHash }]);
  });

  it("pays the seller the match's change where the mirror asks for nothing", () => {
    const [bid, mirror] = acceptedBid(3, alice, "7");
    const orders = [bid, { ...mirror, consideration: [] }];

    expect(salesOf(transaction(orders))).toMatchObject([
      { totalWei: 100n, fees: [{ wei: 3n }, { wei: 5n }] },
    ]);
  });

  it("keeps several bids accepted in one match apart", () => {
    const orders = [...acceptedBid(3, alice, "7", 100n), ...acceptedBid(5, alice, "8", 200n)];

    expect(salesOf(transaction(orders, { matches: [matchOf(orders)] }))).toMatchObject([
      { ordinal: 0, tokenId: "7", totalWei: 100n, bundle: null },
      { ordinal: 1, tokenId: "8", totalWei: 200n, bundle: null },
    ]);
  });

  it("prices each bid separately when one mirror fills several", () => {
    const [first, mirror] = acceptedBid(3, alice, "7", 100n);
    const [second] = acceptedBid(4, alice, "8", 300n);
    const orders = [
      first,
      second,
      {
        ...mirror,
        logIndex: 5,
        offer: [nft(apes, "7"), nft(apes, "8")],
        consideration: [to(creator, erc20(40n)), to(alice, erc20(344n))],
      },
    ];

    expect(salesOf(transaction(orders))).toMatchObject([
      {
        tokenId: "7",
        totalWei: 100n,
        fees: [{ wei: 3n }, { wei: 5n }, { recipient: creator, wei: 10n }],
      },
      {
        tokenId: "8",
        totalWei: 300n,
        fees: [{ wei: 3n }, { wei: 5n }, { recipient: creator, wei: 30n }],
      },
    ]);
  });

  it("keeps equal ERC-1155 trades of one match apart", () => {
    const copies = (logIndex: number, seller: Address) =>
      acceptedBid(logIndex, seller, "7").map((order) => ({
        ...order,
        recipient: alice,
        offer: order.offer.map((item) => (item.itemType === 2 ? { ...item, itemType: 3 } : item)),
      }));
    const orders = [...copies(3, alice), ...copies(5, carol)];

    expect(salesOf(transaction(orders, { matches: [matchOf(orders)] }))).toMatchObject([
      { seller: alice, quantity: 1n, totalWei: 100n },
      { seller: carol, quantity: 1n, totalWei: 100n },
    ]);
  });

  it("sells privately to the recipient the listing names, paid by an order without NFTs", () => {
    const sold = listing(3);
    const orders = [
      { ...sold, consideration: [...sold.consideration, to(carol, nft(apes, "7"))] },
      fulfilled({ logIndex: 4, offerer: carol, recipient: carol, offer: [native(100n)] }),
    ].map((order) => ({ ...order, recipient: carol }));

    expect(salesOf(transaction(orders, { sender: carol }))).toMatchObject([
      { side: "ask", seller: alice, buyer: carol, totalWei: 100n, logIndex: 3 },
    ]);
  });

  it("keeps listings bought in one call apart", () => {
    const orders = [listing(3), { ...listing(4), offerer: carol, offer: [nft(apes, "8")] }];

    expect(salesOf(transaction(orders))).toMatchObject([
      { ordinal: 0, tokenId: "7", seller: alice, totalWei: 100n },
      { ordinal: 1, tokenId: "8", seller: carol, totalWei: 100n },
    ]);
  });

  it("makes two trades of buying and reselling in one call", () => {
    const [bid] = acceptedBid(6, carol, "7", 110n);
    const orders = [{ ...listing(5), recipient: carol }, bid];

    expect(salesOf(transaction(orders))).toMatchObject([
      { side: "ask", seller: alice, buyer: carol, totalWei: 100n },
      { side: "bid", seller: carol, buyer: bob, totalWei: 110n },
    ]);
  });

  it("makes a row per NFT of a bundle, whose prices and fees sum to the bundle's", () => {
    const bundle = { ...listing(), offer: ["7", "8", "9"].map((id) => nft(apes, id)) };

    const sales = salesOf(transaction([bundle]));

    expect(sales.map((sale) => sale.totalWei)).toEqual([34n, 33n, 33n]);
    expect(sales.map((sale) => sale.fees.map((fee) => fee.wei))).toEqual([
      [1n, 3n],
      [1n, 1n],
      [1n, 1n],
    ]);
    for (const sale of sales) expect(sale.bundle).toEqual({ size: 3, totalWei: 100n });
  });

  it("adds up items that repeat an NFT, and prices ERC-1155 by unit", () => {
    const units = { ...listing(), offer: [nft(apes, "7", 2n), nft(apes, "7", 5n)] };

    expect(salesOf(transaction([units]))).toMatchObject([
      { quantity: 7n, totalWei: 100n, priceWei: 14n, bundle: null },
    ]);
  });

  it("sells no more of an NFT than there can be, however often an order repeats it", () => {
    const most = nft(apes, "7", 2n ** 256n - 1n);
    expect(salesOf(transaction([{ ...listing(), offer: [most] }]))).toMatchObject([
      { quantity: 2n ** 256n - 1n },
    ]);
    const nine = { ...listing(), offer: Array.from({ length: 9 }, () => most) };
    expect(salesOf(transaction([nine]))).toEqual([]);
  });

  it("adds up the native currency and its wrapped form, and no third currency", () => {
    const usdc = account("05dc");
    const mixed = {
      ...listing(),
      consideration: [to(alice, native(60n)), to(creator, erc20(40n)), to(carol, erc20(9n, usdc))],
    };

    expect(salesOf(transaction([mixed]))).toMatchObject([
      { totalWei: 100n, currency: zeroAddress, fees: [{ recipient: creator, wei: 40n }] },
    ]);
  });

  it("reads a listing in another currency", () => {
    const usdc = account("05dc");
    const order = { ...listing(), consideration: [to(alice, erc20(60n, usdc))] };

    expect(salesOf(transaction([order]))).toMatchObject([{ totalWei: 60n, currency: usdc }]);
  });

  it("takes the largest payment as the proceeds of a seller who receives none", () => {
    const order = { ...listing(), consideration: [to(carol, native(95n)), to(ours, native(5n))] };

    expect(salesOf(transaction([order]))).toMatchObject([
      { totalWei: 100n, fees: [{ recipient: ours, wei: 5n, kind: "service" }] },
    ]);
  });

  it("makes no sale of a trade at price zero, which keeps its number in the ids of the others", () => {
    const both = transaction([listing(), listing(9)]);
    const [free, paid] = both.orders;
    const firstFree = { ...both, orders: [{ ...free, consideration: [] }, paid] };

    const [, second] = salesOf(both);
    expect(salesOf(firstFree as OrderTransaction)).toEqual([{ ...second, ordinal: 0 }]);
    expect(translateTransaction(factsOf(firstFree as OrderTransaction), ours).unresolved).toEqual([
      { unresolved: "zero_price", protocol: "seaport", logIndex: 5 },
    ]);
  });

  it("makes no sale of barter, of currencies exchanged, or of a contract's mint", () => {
    const barter = { ...listing(), consideration: [to(alice, nft(apes, "8"))] };
    const currencies = { ...listing(), offer: [erc20(5n)] };
    const mint = { ...listing(), offerer: apes };

    for (const order of [barter, currencies, mint]) {
      expect(salesOf(transaction([order]))).toEqual([]);
    }
  });

  it("attributes by fee recipient, then zone, then calldata tag", () => {
    const plain = { ...listing(), consideration: [to(alice, native(100n))] };
    const openSeaZone = "0x000056f7000000ece9003ca63978907a00ffd100";
    const magicEdenFees = "0x6fa303e72bed54f515a513496f922bc331e2f27e";
    const marketplaceOf = (order: Parameters<typeof transaction>[0][number], tail = "0x332d1229") =>
      salesOf(transaction([order], { calldataTail: tail as `0x${string}` }))[0]?.marketplace;

    expect(marketplaceOf(listing())).toBe("native");
    expect(
      marketplaceOf({
        ...plain,
        zone: openSeaZone,
        consideration: [to(alice, native(98n)), to(magicEdenFees, native(2n))],
      }),
    ).toBe("magiceden");
    expect(marketplaceOf({ ...plain, zone: openSeaZone })).toBe("opensea");
    expect(marketplaceOf(plain)).toBe("blur");
    expect(marketplaceOf(plain, "0x00000000")).toBe("unknown");
  });

  it("gives every sale of a transaction a permanent id of its own", () => {
    const first = transaction([listing(3), { ...listing(4), offer: [nft(apes, "8")] }]);
    const minedAgain = transaction([listing(40), { ...listing(41), offer: [nft(apes, "8")] }]);
    const ids = (given: OrderTransaction) => salesOf(given).map((sale) => sale.saleId);

    expect(new Set(ids(first)).size).toBe(2);
    expect(ids(minedAgain)).toEqual(ids(first));
    expect(ids({ ...first, chainId: 33139 })).not.toEqual(ids(first));
  });
});
