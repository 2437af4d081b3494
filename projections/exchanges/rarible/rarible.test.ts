import { type Hex, zeroAddress } from "viem";
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
  it.each(recordedTransactions("rarible"))("$teaches", (recorded) => {
    const { sales, unresolved } = outcomeOf(transactionOf(recorded));
    expect(sales).toEqual(expectedRows(recorded, sales));
    expect(unresolved).toEqual([]);
  });

  it("tell what the buyer pays in all where each payment has an event", () => {
    const totals = recordedTransactions("rarible").map((recorded) => {
      return outcomeOf(transactionOf(recorded)).sales[0]?.totalWei;
    });
    expect(totals).toEqual(["1025000000000000000", "3075000000000000000", "100000000000000000"]);
  });
});

const [contract, seller, buyer, collector, weth] = addresses();
const [leftHash, rightHash] = ["8", "9"].map((digit): Hex => `0x${digit.repeat(64)}`);

describe("a match that names neither parties nor assets", () => {
  const match = (newLeftFill: string, newRightFill: string) => ({
    event: "Match",
    logIndex: 9,
    args: { leftHash, rightHash, newLeftFill, newRightFill },
  });
  const token = moved(8, { contract, tokenId: "7" }, [seller, buyer], "2");

  it("sells what was transferred, for the other fill", () => {
    const given = givenTransaction("RaribleV2", [match("1000", "2")], { transfers: [token] });
    expect(outcomeOf(given).sales).toMatchObject([
      {
        ...{ version: "2", side: "ask", seller, buyer, quantity: "2", orderHash: leftHash },
        ...{ currency: zeroAddress, totalWei: "1000" },
      },
    ]);
  });

  it("is paid with all that the buyer transfers", () => {
    const transfers = [
      paid(5, weth, [buyer, collector], "25"),
      paid(6, weth, [buyer, seller], "1000"),
      token,
    ];
    const given = givenTransaction("RaribleV2", [match("2", "1000")], { transfers });
    expect(outcomeOf(given).sales).toMatchObject([
      { side: "bid", currency: weth, totalWei: "1025", netWei: "1000" },
    ]);
  });

  it("is unresolved where the buyer gave the seller less than the price in a coin", () => {
    for (const amount of ["1", "999"]) {
      const transfers = [paid(6, weth, [buyer, seller], amount), token];
      const given = givenTransaction("RaribleV2", [match("2", "1000")], { transfers });
      expect(outcomeOf(given)).toEqual({ sales: [], unresolved: ["currency_unknown"] });
    }
  });

  it.each([
    ["neither fill is the number of units", [token], "unknown_type"],
    ["nothing moved", [], "transfer_missing"],
  ])("is unresolved where %s", (_, transfers, reason) => {
    const given = givenTransaction("RaribleV2", [match("3", "1000")], { transfers });
    expect(outcomeOf(given).unresolved).toEqual([reason]);
  });
});
