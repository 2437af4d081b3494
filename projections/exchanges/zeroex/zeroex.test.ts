import { type Address, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import {
  addresses,
  givenTransaction,
  moved,
  outcomeOf,
  paid,
} from "../recorded-transactions.fixture.ts";

const [contract, maker, taker, collector, weth] = addresses();
const native: Address = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
const token = { contract, tokenId: "7" };

const erc721 = (given: Record<string, unknown>) => ({
  event: "ERC721OrderFilled",
  logIndex: 5,
  args: {
    ...{ direction: 0, maker, taker, nonce: "1", erc20Token: native, erc20TokenAmount: "1000" },
    ...{ erc721Token: contract, erc721TokenId: "7", matcher: zeroAddress, ...given },
  },
});

describe("an order filled", () => {
  it("sells what the maker lists", () => {
    const transfers = [moved(3, token, [maker, taker])];
    const { sales } = outcomeOf(givenTransaction("ZeroExNft", [erc721({})], { transfers }));
    expect(sales).toMatchObject([
      {
        ...{ exchange: "0x", version: "4", side: "ask", seller: maker, buyer: taker },
        ...{ currency: zeroAddress, totalWei: "1000", tokenId: "7", orderHash: null },
      },
    ]);
  });

  it("gives a bid's maker units, for fees on top", () => {
    const transfers = [
      moved(1, token, [taker, maker], "3"),
      paid(2, weth, [maker, taker], "1000"),
      paid(3, weth, [maker, collector], "25"),
    ];
    const args = {
      ...{ direction: 1, maker, taker, nonce: "1", erc20Token: weth, erc20FillAmount: "1000" },
      ...{ erc1155Token: contract, erc1155TokenId: "7", erc1155FillAmount: "3" },
    };
    const events = [{ event: "ERC1155OrderFilled", logIndex: 5, args }];
    expect(outcomeOf(givenTransaction("ZeroExNft", events, { transfers })).sales).toMatchObject([
      { side: "bid", seller: taker, buyer: maker, quantity: "3", totalWei: "1025", netWei: "1000" },
    ]);
  });

  it("in an unknown direction is unresolved", () => {
    const events = [erc721({ direction: 2 })];
    expect(outcomeOf(givenTransaction("ZeroExNft", events)).unresolved).toEqual(["unknown_type"]);
  });
});
