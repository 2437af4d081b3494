import { zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { cryptopunksAddress } from "#abis/cryptopunks.ts";
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
  it.each(recordedTransactions("cryptopunks"))("$teaches", (recorded) => {
    const { sales, unresolved } = outcomeOf(transactionOf(recorded));
    expect(sales).toEqual(expectedRows(recorded, sales));
    expect(unresolved).toEqual([]);
  });
});

const [seller, bidder, other] = addresses();
const punk = { contract: cryptopunksAddress, tokenId: "6161" };
const wei = "67500000000000100001";

/** Sales on Ethereum: a bid in block 14,495,157. The event of a bid that was taken has neither price nor buyer. */
function bought(
  more: Partial<Record<"value" | "toAddress", string>>,
  { bid, to = bidder }: { bid?: { bidder: typeof bidder; wei: string }; to?: typeof bidder } = {},
) {
  const args = { punkIndex: "6161", value: "0", fromAddress: seller, toAddress: bidder, ...more };
  const event = { event: "PunkBought", logIndex: 5, args, ...(bid && { bid }) };
  return outcomeOf(
    givenTransaction("CryptoPunks", [event], { transfers: [moved(5, punk, [seller, to])] }),
  );
}

describe("a punk's sale", () => {
  it("by a bid costs what the bid offered", () => {
    expect(bought({ toAddress: zeroAddress }, { bid: { bidder, wei } }).sales).toMatchObject([
      { side: "bid", seller, buyer: bidder, totalWei: wei, netWei: wei, currency: zeroAddress },
    ]);
  });

  it("by a bid that is not known is unresolved, as is another bidder's", () => {
    expect(bought({ toAddress: zeroAddress }).unresolved).toEqual(["price_unknown"]);
    const unresolved = bought(
      { toAddress: zeroAddress },
      { bid: { bidder: other, wei } },
    ).unresolved;
    expect(unresolved).toEqual(["transfer_mismatch"]);
  });

  it("for nothing is a handing over", () => {
    expect(bought({})).toEqual({ sales: [], unresolved: ["zero_price"] });
  });

  it("by a contract that hands the punk on is its receiver's", () => {
    const args = { punkIndex: "6161", value: wei, fromAddress: seller, toAddress: bidder };
    const event = { event: "PunkBought", logIndex: 5, args };
    const transfers = [moved(5, punk, [seller, bidder]), moved(7, punk, [bidder, other])];
    const { sales } = outcomeOf(givenTransaction("CryptoPunks", [event], { transfers }));
    expect(sales).toMatchObject([{ side: "ask", buyer: other, via: bidder }]);
  });
});
