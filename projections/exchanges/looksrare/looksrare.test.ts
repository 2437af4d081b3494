import type { Address, Hex } from "viem";
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
  it.each(recordedTransactions("looksrare"))("$teaches", (recorded) => {
    const { sales, unresolved } = outcomeOf(transactionOf(recorded));
    expect(sales).toEqual(expectedRows(recorded, sales));
    expect(unresolved).toEqual([]);
  });
});

const [collection, maker, taker, creator, friend] = addresses();
const orderHash: Hex = `0x${"9".repeat(64)}`;
const weth = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
const protocolFees = "0x5924a28caaf1cc016617874a2f0c3710d881f3c1";
const token = { contract: collection, tokenId: "7" };

describe("the first version", () => {
  const strategy: Address = "0x579af6fd30bf83a5ac0d636bc619f98dbdeb930c";
  const royalty = (tokenId: string) => ({
    event: "RoyaltyPayment",
    logIndex: 8,
    args: { collection, tokenId, royaltyRecipient: creator, currency: weth, amount: "500" },
  });
  const taken = {
    event: "TakerAsk",
    logIndex: 10,
    args: {
      ...{ orderHash, orderNonce: "1", taker, maker, strategy, currency: weth, collection },
      ...{ tokenId: "7", amount: "1", price: "10000" },
    },
  };
  const netOf = (tokenId: string, ...coins: ReturnType<typeof paid>[]) => {
    const transfers = [moved(5, token, [taker, maker]), ...coins];
    const events = [royalty(tokenId), taken];
    return outcomeOf(givenTransaction("LooksRareV1", events, { transfers })).sales[0]?.netWei;
  };

  it("takes its fee from what is transferred to the protocol", () => {
    expect(netOf("7", paid(6, weth, [maker, protocolFees], "150"))).toBe("9350");
    expect(netOf("7")).toBe("9500");
  });

  it("does not take another token's royalty for the trade's", () => {
    expect(netOf("8")).toBe("10000");
  });
});

describe("the second version", () => {
  const amounts = {
    nonceInvalidationParameters: { orderHash, orderNonce: "1", isNonceInvalidated: true },
    ...{ strategyId: "0", currency: weth, collection, itemIds: ["7", "8"], amounts: ["1", "2"] },
    feeRecipients: [maker, creator],
    feeAmounts: ["9400", "500", "100"],
  };

  it("sells bundles, to whom the taker says", () => {
    const args = { ...amounts, bidUser: taker, bidRecipient: friend };
    const events = [{ event: "TakerBid", logIndex: 10, args }];
    const transfers = [
      moved(8, token, [maker, friend]),
      moved(9, { ...token, tokenId: "8" }, [maker, friend], "2"),
    ];
    const { sales } = outcomeOf(givenTransaction("LooksRareV2", events, { transfers }));
    expect(sales).toMatchObject([
      { tokenId: "7", quantity: "1", totalWei: "5000", seller: maker, buyer: friend, via: taker },
      { tokenId: "8", quantity: "2", totalWei: "5000", side: "ask", netWei: "4700", orderHash },
    ]);
  });

  it("cancels nothing that is a sale", () => {
    const args = { user: maker, orderNonces: ["1", "2"] };
    const events = [{ event: "OrderNoncesCancelled", logIndex: 10, args }];
    expect(outcomeOf(givenTransaction("LooksRareV2", events))).toEqual({
      sales: [],
      unresolved: [],
    });
  });
});
