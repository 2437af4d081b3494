import { zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { addresses, givenTransaction, moved, outcomeOf } from "../recorded-transactions.fixture.ts";

const [tokenContract, seller, buyer, creator, finder] = addresses();
const token = { contract: tokenContract, tokenId: "11" };

/** Price and royalty of a sale on Ethereum, block 14,681,262. */
const askPrice = "33000000000000000";
const royalty = {
  event: "RoyaltyPayout",
  logIndex: 4,
  args: { tokenContract, tokenId: "11", recipient: creator, amount: "3300000000000000" },
};
const filled = (given: Record<string, unknown> = {}) => {
  const terms = { askCurrency: zeroAddress, findersFeeBps: 200, askPrice };
  const ask = { seller, sellerFundsRecipient: seller, ...terms };
  const args = { tokenContract, tokenId: "11", buyer, finder: zeroAddress, ask, ...given };
  return { event: "AskFilled", logIndex: 8, args };
};
const salesOf = (event: ReturnType<typeof filled>) => {
  const transfers = [moved(7, token, [seller, buyer])];
  return outcomeOf(givenTransaction("ZoraAsks", [royalty, event], { transfers })).sales;
};

describe("asks", () => {
  it("are paid with the royalties of the events before", () => {
    expect(salesOf(filled())).toMatchObject([
      {
        ...{ version: "3", side: "ask", seller, buyer, currency: zeroAddress, orderHash: null },
        ...{ totalWei: askPrice, netWei: "29700000000000000" },
      },
    ]);
  });

  it("pay a finder out of what remains", () => {
    expect(salesOf(filled({ finder }))).toMatchObject([
      { totalWei: askPrice, netWei: "29106000000000000" },
    ]);
  });

  it("that end without a buyer are no sales", () => {
    const canceled = { event: "AskCanceled", logIndex: 8, args: { tokenContract, tokenId: "11" } };
    const outcome = outcomeOf(givenTransaction("ZoraAsks", [canceled]));
    expect(outcome).toEqual({ sales: [], unresolved: [] });
  });
});

describe("auctions", () => {
  it("are paid with the curator's fee on top; the house gives the token out", () => {
    const args = {
      ...{ auctionId: "1", tokenId: "11", tokenContract, tokenOwner: seller, curator: finder },
      ...{ winner: buyer, amount: "1000", curatorFee: "50", auctionCurrency: zeroAddress },
    };
    const ended = { event: "AuctionEnded", logIndex: 8, args };
    const house = "0xe468ce99444174bd3bbbed09209577d25d1ad673";
    const transfers = [moved(7, token, [house, buyer])];
    const { sales } = outcomeOf(givenTransaction("ZoraAuctions", [ended], { transfers }));
    expect(sales).toMatchObject([
      { version: "2", side: "bid", seller, buyer, totalWei: "1050", netWei: "1000" },
    ]);
  });
});
