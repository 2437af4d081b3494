import { zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { nftxFactories } from "#abis/nftx.ts";
import {
  addresses,
  givenTransaction,
  moved,
  outcomeOf,
  paid,
  pool as vault,
} from "../recorded-transactions.fixture.ts";

const [collection, user, zap, pair, weth] = addresses();
const nft = { contract: collection, tokenId: "7" };

function event(name: "Minted" | "Redeemed", logIndex: number, ids = ["7"]) {
  return { event: name, logIndex, args: { nftIds: ids, to: zap }, factory: nftxFactories["2"] };
}

/** As the zaps of NFTX do: coins are bought with WETH, destroyed, and the NFT is passed on. */
const bought = [
  paid(1, weth, [zap, pair], "1050"),
  paid(2, vault, [pair, zap], "1000"),
  paid(3, vault, [zap, zeroAddress], "1000"),
  moved(4, nft, [vault, zap]),
  moved(6, nft, [zap, user]),
];
const sold = [
  moved(1, nft, [user, zap]),
  moved(2, nft, [zap, vault]),
  paid(3, vault, [zeroAddress, zap], "950"),
  paid(5, vault, [zap, pair], "950"),
  paid(6, weth, [pair, zap], "900"),
];

describe("a vault's swap", () => {
  it("is a purchase where its coins were bought for it", () => {
    const transaction = givenTransaction("NftxV2", [event("Redeemed", 5)], { transfers: bought });
    expect(outcomeOf(transaction).sales).toMatchObject([
      {
        ...{ version: "2", side: "ask", seller: vault, buyer: user, via: zap },
        ...{ tokenId: "7", totalWei: "1050", currency: weth },
      },
    ]);
  });

  it("is a sale by whoever had the NFT where the coins were sold", () => {
    const transaction = givenTransaction("NftxV2", [event("Minted", 4)], { transfers: sold });
    expect(outcomeOf(transaction).sales).toMatchObject([
      { side: "bid", seller: user, buyer: vault, totalWei: "900", currency: weth },
    ]);
  });

  it("is none where no coins were traded, as a deposit", () => {
    const transfers = sold.slice(0, 3);
    expect(outcomeOf(givenTransaction("NftxV2", [event("Minted", 4)], { transfers }))).toEqual({
      sales: [],
      unresolved: [],
    });
  });

  it("is unresolved where one payment is for two of them, or the contract is no vault", () => {
    const events = [event("Redeemed", 5), event("Redeemed", 7)];
    expect(outcomeOf(givenTransaction("NftxV2", events, { transfers: bought })).unresolved).toEqual(
      ["price_unknown", "price_unknown"],
    );
    const forged = [{ ...event("Redeemed", 5), factory: null }];
    expect(outcomeOf(givenTransaction("NftxV2", forged, { transfers: bought })).unresolved).toEqual(
      ["unknown_pool"],
    );
  });
});
