import type { Hex } from "viem";
import { describe, expect, it } from "vitest";
import {
  addresses,
  expectedRows,
  givenTransaction,
  moved,
  outcomeOf,
  recordedTransactions,
  transactionOf,
} from "../recorded-transactions.fixture.ts";

describe("recorded transactions", () => {
  it.each(recordedTransactions("archipelago"))("$teaches", (recorded) => {
    const { sales, unresolved } = outcomeOf(transactionOf(recorded));
    expect(sales).toEqual(expectedRows(recorded, sales));
    expect(unresolved).toEqual([]);
  });
});

const [token, seller, buyer, currency] = addresses();
const tradeId: Hex = `0x${"9".repeat(64)}`;
const trade = {
  event: "Trade",
  logIndex: 5,
  args: { tradeId, buyer, seller, price: "1000", proceeds: "950", cost: "1010", currency },
};
const tokenTrade = { event: "TokenTrade", logIndex: 6, args: { tradeId, token, tokenId: "7" } };

describe("a trade", () => {
  it("that the buyer sends takes the seller's offer", () => {
    const transfers = [moved(4, { contract: token, tokenId: "7" }, [seller, buyer])];
    const call = { sender: buyer, transfers };
    const sent = givenTransaction("Archipelago", [trade, tokenTrade], call);
    expect(outcomeOf(sent).sales).toMatchObject([{ side: "ask", totalWei: "1010", tokenId: "7" }]);
  });

  it("whose token no event names is unresolved", () => {
    expect(outcomeOf(givenTransaction("Archipelago", [trade])).unresolved).toEqual(["undecodable"]);
  });
});
