import { type Address, type Hex, zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
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
  it.each(recordedTransactions("wyvern"))("$teaches", (recorded) => {
    const { sales, unresolved } = outcomeOf(transactionOf(recorded));
    expect(sales).toEqual(expectedRows(recorded, sales));
    expect(unresolved).toEqual(sales.length === 0 ? ["zero_price"] : []);
  });
});

const [contract, maker, taker, coin, collector] = addresses();
const [buyHash, sellHash] = ["8", "9"].map((digit): Hex => `0x${digit.repeat(64)}`);

const matched = (args: Record<string, unknown> = {}, logIndex = 10) => ({
  event: "OrdersMatched",
  logIndex,
  args: { buyHash: zeroHash, sellHash, maker, taker, price: "1000", metadata: zeroHash, ...args },
});
const token = (logIndex: number, tokenId: string, parties: [Address, Address] = [maker, taker]) =>
  moved(logIndex, { contract, tokenId }, parties);

describe("OrdersMatched", () => {
  it("of a bundle: all that moves between the two", () => {
    const transfers = [token(3, "7"), token(5, "8")];
    const { sales } = outcomeOf(givenTransaction("WyvernV1", [matched()], { transfers }));
    expect(sales).toMatchObject([
      { tokenId: "7", totalWei: "500", seller: maker, buyer: taker, orderHash: sellHash },
      { tokenId: "8", totalWei: "500", currency: zeroAddress, side: "ask" },
    ]);
  });

  it("after another: what moved in between", () => {
    const transfers = [token(3, "7"), token(12, "8")];
    const events = [matched(), matched({ price: "3000" }, 14)];
    const { sales } = outcomeOf(givenTransaction("WyvernV2", events, { transfers }));
    expect(sales).toMatchObject([
      { tokenId: "7", totalWei: "1000", version: "2" },
      { tokenId: "8", totalWei: "3000" },
    ]);
  });

  it("of a listing paid in a coin: the seller pays the fee out of it", () => {
    const transfers = [
      paid(1, coin, [taker, maker], "1000"),
      paid(2, coin, [maker, collector], "25"),
      token(3, "7"),
    ];
    const { sales } = outcomeOf(givenTransaction("WyvernV2", [matched()], { transfers }));
    expect(sales).toMatchObject([{ currency: coin, totalWei: "1000", netWei: "975" }]);
  });

  it("of coins that are not the price is unresolved: one that moves without its log would pass for ether", () => {
    for (const amount of ["1", "999", "1001"]) {
      const transfers = [paid(1, coin, [taker, maker], amount), token(3, "7")];
      const transaction = givenTransaction("WyvernV2", [matched()], { transfers });
      expect(outcomeOf(transaction)).toEqual({ sales: [], unresolved: ["currency_unknown"] });
    }
  });

  it("is of ether whatever coins move between others", () => {
    const transfers = [
      paid(1, coin, [collector, maker], "5"),
      paid(2, coin, [taker, collector], "1000"),
      token(3, "7"),
    ];
    const { sales } = outcomeOf(givenTransaction("WyvernV2", [matched()], { transfers }));
    expect(sales).toMatchObject([{ currency: zeroAddress, totalWei: "1000" }]);
  });

  it.each([
    ["a listing", [maker, taker], { side: "ask", orderHash: sellHash, buyer: taker }],
    ["a bid", [taker, maker], { side: "bid", orderHash: buyHash, buyer: maker }],
  ] as const)(
    "of two signed orders: the token tells that the maker's is %s",
    (_, [from, to], sale) => {
      const transfers = [token(3, "7", [from, to])];
      const transaction = givenTransaction("WyvernV1", [matched({ buyHash })], { transfers });
      expect(outcomeOf(transaction).sales).toMatchObject([sale]);
    },
  );

  it("without a transfer is unresolved", () => {
    const { unresolved } = outcomeOf(givenTransaction("WyvernV1", [matched()]));
    expect(unresolved).toEqual(["transfer_missing"]);
  });
});
