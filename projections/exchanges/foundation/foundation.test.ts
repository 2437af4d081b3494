import { zeroAddress } from "viem";
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
  it.each(recordedTransactions("foundation"))("$teaches", (recorded) => {
    const { sales, unresolved } = outcomeOf(transactionOf(recorded));
    expect(sales).toEqual(expectedRows(recorded, sales));
    expect(unresolved).toEqual([]);
  });
});

const [nftContract, seller, buyer] = addresses();
const market = "0xcda72070e455bb31c7690a170224ce43623d0b6f";

/** Amounts of sales on Ethereum, blocks 15,140,545 and 15,138,341. */
const resale = { protocolFee: "3000000000000000", creatorFee: "0", sellerRev: "57000000000000000" };
const withRoyalty = {
  protocolFee: "32500000000000000",
  creatorFee: "65000000000000000",
  sellerRev: "552500000000000000",
};

function sold(event: string, amounts: Record<string, string>, holder = seller) {
  const args = { nftContract, tokenId: "53", seller, buyer, ...amounts };
  const transfers = [moved(4, { contract: nftContract, tokenId: "53" }, [holder, buyer])];
  return outcomeOf(givenTransaction("Foundation", [{ event, logIndex: 5, args }], { transfers }));
}

describe("a sale at a fixed price", () => {
  it.each([
    ["BuyPriceAccepted", "ask"],
    ["PrivateSaleFinalized", "ask"],
    ["OfferAccepted", "bid"],
  ])("by %s", (event, side) => {
    expect(sold(event, resale).sales).toMatchObject([
      {
        ...{ side, seller, buyer, tokenId: "53", currency: zeroAddress, orderHash: null },
        ...{ totalWei: "60000000000000000", netWei: "57000000000000000" },
      },
    ]);
  });

  it("is paid in three parts, also of a token that the market holds", () => {
    expect(sold("OfferAccepted", withRoyalty, market).sales).toMatchObject([
      { seller, totalWei: "650000000000000000", netWei: "552500000000000000" },
    ]);
  });
});

describe("other events", () => {
  it("make no sale", () => {
    expect(sold("BuyPriceCanceled", {})).toEqual({ sales: [], unresolved: [] });
  });

  it("an auction whose token did not move is unresolved", () => {
    const args = { auctionId: "1", seller, bidder: buyer, ...resale };
    const events = [{ event: "ReserveAuctionFinalized", logIndex: 5, args }];
    expect(outcomeOf(givenTransaction("Foundation", events)).unresolved).toEqual([
      "transfer_missing",
    ]);
  });
});
