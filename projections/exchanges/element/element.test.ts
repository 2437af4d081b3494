import { type Address, type Hex, zeroAddress } from "viem";
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
  it.each(recordedTransactions("element"))("$teaches", (recorded) => {
    const { sales, unresolved } = outcomeOf(transactionOf(recorded));
    expect(sales).toEqual(expectedRows(recorded, sales));
    expect(unresolved).toEqual([]);
  });
});

const [contract, maker, taker, platform, creator, weth] = addresses();
const orderHash: Hex = `0x${"9".repeat(64)}`;
const native: Address = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
const token = { contract, tokenId: "16347" };
const common = { maker, taker, token: contract, tokenId: "16347", orderHash };

describe("the first form", () => {
  it("of a bid in a coin: the buyer pays the fee on top", () => {
    const args = { ...common, erc20Token: weth, erc20FillAmount: "1000", amount: "3" };
    const transfers = [
      paid(1, weth, [maker, taker], "1000"),
      paid(2, weth, [maker, platform], "20"),
      moved(3, token, [taker, maker], "3"),
    ];
    const events = [{ event: "ERC1155BuyOrderFilled", logIndex: 5, args }];
    expect(outcomeOf(givenTransaction("Element", events, { transfers })).sales).toMatchObject([
      {
        ...{ version: "1", side: "bid", seller: taker, buyer: maker, quantity: "3", orderHash },
        ...{ currency: weth, totalWei: "1020", netWei: "1000" },
      },
    ]);
  });
});

describe("the form with fees", () => {
  /** Amounts of a sale on Ethereum, block 16,876,268. */
  const args = {
    ...{ ...common, nonce: "1", erc20Token: native, erc20TokenAmount: "202000000000000000" },
    fees: [
      { recipient: platform, amount: "1010000000000000" },
      { recipient: creator, amount: "5050000000000000" },
    ],
  };

  it.each([
    ["ERC721SellOrderFilled", "ask", maker, taker],
    ["ERC721BuyOrderFilled", "bid", taker, maker],
  ] as const)("of %s: they are part of the price", (event, side, seller, buyer) => {
    const transfers = [moved(3, token, [seller, buyer])];
    const events = [{ event, logIndex: 5, args }];
    expect(outcomeOf(givenTransaction("ElementFees", events, { transfers })).sales).toMatchObject([
      {
        ...{ side, seller, buyer, version: "2", currency: zeroAddress, tokenId: "16347" },
        ...{ totalWei: "202000000000000000", netWei: "195940000000000000" },
      },
    ]);
  });
});
