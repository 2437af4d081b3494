import { type Address, type Hex, toEventSelector, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { blendEvents, blurAddresses, blurV1Events, blurV2Events } from "#abis/blur.ts";
import {
  addresses,
  expectedRows,
  givenTransaction,
  moved,
  outcomeOf,
  paid,
  recordedTransactions,
  transactionOf,
} from "../recorded-transactions.fixture.ts";

describe("recorded transactions", () => {
  it.each(recordedTransactions("blur"))("$teaches", (recorded) => {
    const { sales, unresolved } = outcomeOf(transactionOf(recorded));
    expect(sales).toEqual(expectedRows(recorded, sales));
    expect(unresolved).toEqual([]);
  });
});

describe("topics", () => {
  it.each([
    ["OrdersMatched", "0x61cbb2a3dee0b6064c2e681aadd61677fb4ef319f0b547508d495626f5a62f64"],
    ["OrderCancelled", "0x5152abf959f6564662358c2e52b702259b78bac5ee7842a0f01937e670efcc7d"],
    ["NonceIncremented", "0xa82a649bbd060c9099cd7b7326e2b0dc9e9af0836480e0f849dc9eaa79710b3b"],
    ["Execution", "0xf2f66294df6fae7ac681cbe2f6d91c6904485929679dce263e8f6539b7d5c559"],
    ["Execution721Packed", "0x1d5e12b51dee5e4d34434576c3fb99714a85f57b0fd546ada4b0bddd736d12b2"],
    [
      "Execution721TakerFeePacked",
      "0x0fcf17fac114131b10f37b183c6a60f905911e52802caeeb3e6ea210398b81ab",
    ],
    [
      "Execution721MakerFeePacked",
      "0x7dc5c0699ac8dd5250cbe368a2fc3b4a2daadb120ad07f6cccea29f83482686e",
    ],
    ["BuyLocked", "0x7ffb5bd9cdc79a6f9bc6e00c82f43836e0afbb204d47972001f6e853764a8ef1"],
  ])("%s", (name, topic) => {
    const events = [...blurV1Events, ...blurV2Events, ...blendEvents];
    const event = events.find((one) => one.name === name);
    expect(event && toEventSelector(event)).toBe(topic);
  });
});

const [contract, maker, taker, creator, router, person] = addresses();
const token = { contract, tokenId: "854" };
const orderHash: Hex = `0x${"8".repeat(64)}`;
const listed = [moved(9, token, [maker, taker])];
const bidFor = [moved(9, token, [taker, maker])];

type Options = { transfers?: typeof listed; sender?: Address };

function outcome(source: string, event: string, args: Record<string, unknown>, given: Options) {
  return outcomeOf(givenTransaction(source, [{ event, args, logIndex: 10 }], given));
}

/** The words of an event as the exchange packs them: token 854, listing index 3. */
function packed(type: number, fee: Record<string, bigint> = {}) {
  const rates = Object.entries(fee).map(([name, rate]) => [
    name,
    `${(rate << 160n) | BigInt(creator)}`,
  ]);
  return {
    orderHash,
    tokenIdListingIndexTrader: `${(854n << 168n) | (3n << 160n) | BigInt(maker)}`,
    collectionPriceSide: `${(BigInt(type) << 248n) | (1_000_000n << 160n) | BigInt(contract)}`,
    ...Object.fromEntries(rates),
  };
}

describe("packed events of version 2", () => {
  it("of a listing: the trader sells, the maker's fee comes out of the price", () => {
    const args = packed(0, { makerFeeRecipientRate: 50n });
    const { sales } = outcome("BlurV2", "Execution721MakerFeePacked", args, { transfers: listed });
    expect(sales).toMatchObject([
      { side: "ask", seller: maker, buyer: taker, tokenId: "854", orderHash, version: "2" },
    ]);
    expect(sales).toMatchObject([{ totalWei: "1000000", netWei: "995000", currency: zeroAddress }]);
  });

  it("of a listing: the taker's fee comes on top of the price", () => {
    const args = packed(0, { takerFeeRecipientRate: 50n });
    const { sales } = outcome("BlurV2", "Execution721TakerFeePacked", args, { transfers: listed });
    expect(sales).toMatchObject([{ side: "ask", totalWei: "1005000", netWei: "1000000" }]);
  });

  it("of a bid: the trader buys, the taker's fee comes out of the price", () => {
    const args = packed(1, { takerFeeRecipientRate: 500n });
    const { sales } = outcome("BlurV2", "Execution721TakerFeePacked", args, { transfers: bidFor });
    expect(sales).toMatchObject([
      { side: "bid", seller: taker, buyer: maker, totalWei: "1000000", netWei: "950000" },
    ]);
  });

  it("with an unknown order type are unresolved", () => {
    const unresolved = outcome("BlurV2", "Execution721Packed", packed(2), { transfers: listed });
    expect(unresolved).toEqual({ sales: [], unresolved: ["unknown_type"] });
  });

  it.each([
    ["no transfer", [], "transfer_missing"],
    ["a transfer to the seller", bidFor, "transfer_mismatch"],
    ["a transfer after the event", [moved(11, token, [maker, taker])], "transfer_missing"],
  ])("with %s are unresolved", (_, transfers, reason) => {
    const unresolved = outcome("BlurV2", "Execution721Packed", packed(0), { transfers });
    expect(unresolved).toEqual({ sales: [], unresolved: [reason] });
  });

  it("without their words are unresolved", () => {
    expect(outcome("BlurV2", "Execution721Packed", {}, { transfers: listed }).unresolved).toEqual([
      "undecodable",
    ]);
  });

  it("of several fills give each its own transfer", () => {
    const events = [10, 12].map((logIndex) => {
      return { event: "Execution721Packed", args: packed(0), logIndex };
    });
    const transfers = [moved(9, token, [maker, taker]), moved(11, token, [maker, person])];
    const { sales, unresolved } = outcomeOf(givenTransaction("BlurV2", events, { transfers }));
    expect(sales).toMatchObject([{ buyer: taker }, { buyer: person }]);
    expect(unresolved).toEqual([]);
  });

  it("of a purchase on credit: the borrower buys, who sent the transaction", () => {
    const transfers = [moved(9, token, [maker, blurAddresses.blend])];
    const given = { transfers, sender: person };
    expect(outcome("BlurV2", "Execution721Packed", packed(0), given).sales).toMatchObject([
      { seller: maker, buyer: person, via: null },
    ]);
  });

  it("of a loan closed by a bid: the borrower sells", () => {
    const transfers = [moved(9, token, [blurAddresses.blend, maker])];
    const given = { transfers, sender: person };
    expect(outcome("BlurV2", "Execution721Packed", packed(1), given).sales).toMatchObject([
      { seller: person, buyer: maker },
    ]);
  });
});

describe("Execution of version 2", () => {
  const rate = (recipient: Address, value: number) => ({ recipient, rate: value });
  const args = {
    transfer: { trader: maker, id: "854", amount: "4", collection: contract, assetType: 1 },
    ...{
      orderHash,
      listingIndex: "0",
      price: "1000000",
      makerFee: rate(creator, 50),
      orderType: 0,
    },
    fees: { protocolFee: rate(router, 100), takerFee: rate(person, 0) },
  };
  const units = [moved(9, token, [maker, taker], "4")];

  it("sells all units for one price, less three fees", () => {
    const { sales } = outcome("BlurV2", "Execution", args, { transfers: units });
    expect(sales).toMatchObject([
      { quantity: "4", totalWei: "1000000", netWei: "985000", seller: maker, buyer: taker },
    ]);
  });

  it.each([
    ["asset type", { transfer: { ...args.transfer, assetType: 2 } }],
    ["order type", { orderType: 9 }],
  ])("with an unknown %s is unresolved", (_, more) => {
    const unresolved = outcome("BlurV2", "Execution", { ...args, ...more }, { transfers: units });
    expect(unresolved).toEqual({ sales: [], unresolved: ["unknown_type"] });
  });

  it("beyond 10^27 wei is unresolved", () => {
    const dear = { ...args, price: `1${"0".repeat(27)}1` };
    const unresolved = outcome("BlurV2", "Execution", dear, { transfers: units });
    expect(unresolved).toEqual({ sales: [], unresolved: ["price_out_of_range"] });
  });
});

describe("OrdersMatched of version 1", () => {
  const order = (trader: Address, listingTime: string, paymentToken: Address) => ({
    ...{ trader, listingTime, paymentToken, collection: contract, tokenId: "854", amount: "1" },
    ...{ price: "1000000", fees: [{ rate: 50, recipient: creator }] },
  });
  const matched = (sold: string, bought: string, currency: Address) => ({
    ...{ sell: order(maker, sold, currency), sellHash: orderHash },
    ...{ buy: order(taker, bought, currency), buyHash: `0x${"7".repeat(64)}` },
  });

  it("paid from the pool is a sale of the older order, in ether", () => {
    for (const [sold, bought, side] of [
      ["1", "2", "ask"],
      ["2", "1", "bid"],
    ] as const) {
      const args = matched(sold, bought, blurAddresses.pool);
      expect(outcome("Blur", "OrdersMatched", args, { transfers: listed }).sales).toMatchObject([
        { side, currency: zeroAddress, netWei: "995000", version: "1" },
      ]);
    }
  });

  it("paid in ether is a listing taken, even by an older order", () => {
    const args = matched("2", "1", zeroAddress);
    expect(outcome("Blur", "OrdersMatched", args, { transfers: listed }).sales).toMatchObject([
      { side: "ask", orderHash },
    ]);
  });

  it("without a loan's borrower sells for whoever sent the transaction", () => {
    const args = matched("1", "2", blurAddresses.pool);
    const sell = { ...args.sell, trader: blurAddresses.blend };
    const given = { transfers: [moved(9, token, [blurAddresses.blend, taker])], sender: person };
    expect(outcome("Blur", "OrdersMatched", { ...args, sell }, given).sales).toMatchObject([
      { seller: person, buyer: taker },
    ]);
  });

  it("has cancels beside it that are no sales", () => {
    const nothing = { sales: [], unresolved: [] };
    expect(outcome("Blur", "OrderCancelled", { hash: orderHash }, {})).toEqual(nothing);
    expect(outcome("Blur", "NonceIncremented", { newNonce: "1" }, {})).toEqual(nothing);
  });
});

describe("BuyLocked", () => {
  const args = { lienId: "1", collection: contract, buyer: taker, seller: maker, tokenId: "854" };
  const handedOver = moved(12, token, [blurAddresses.blend, taker]);

  it("costs all that left the buyer in the pool's coin, fees before the event among it", () => {
    const transfers = [
      paid(8, blurAddresses.pool, [taker, creator], "50"),
      paid(11, blurAddresses.pool, [taker, person], "700"),
      handedOver,
      paid(13, blurAddresses.pool, [taker, maker], "250"),
      paid(14, blurAddresses.pool, [person, creator], "9"),
    ];
    expect(outcome("Blend", "BuyLocked", args, { transfers }).sales).toMatchObject([
      { exchange: "blend", seller: maker, buyer: taker, totalWei: "1000", netWei: "950" },
    ]);
  });

  it("that nothing was paid for is unresolved", () => {
    const unresolved = outcome("Blend", "BuyLocked", args, { transfers: [handedOver] });
    expect(unresolved).toEqual({ sales: [], unresolved: ["zero_price"] });
  });

  it("whose token stays in the next loan is unresolved", () => {
    const transfers = [paid(11, blurAddresses.pool, [taker, person], "700")];
    const unresolved = outcome("Blend", "BuyLocked", args, { transfers });
    expect(unresolved).toEqual({ sales: [], unresolved: ["transfer_missing"] });
  });
});
