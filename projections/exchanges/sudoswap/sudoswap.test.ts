import { type Address, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { sudoswapFactories } from "#abis/sudoswap.ts";
import {
  addresses,
  givenTransaction,
  moved,
  outcomeOf,
  paid,
  pool,
} from "../recorded-transactions.fixture.ts";

const [collection, user, recipient, coin, protocol, worthless] = addresses();
const first = { contract: collection, tokenId: "7" };
const second = { contract: collection, tokenId: "8" };

type Given = Parameters<typeof givenTransaction>[1][number];

function swap(source: string, event: Partial<Given>, transfers: ReturnType<typeof moved>[]) {
  const factory = source === "SudoswapV1" ? sudoswapFactories["1"] : sudoswapFactories["2"];
  const given = { event: "SwapNFTOutPair", logIndex: 9, args: {}, factory, ...event };
  return outcomeOf(givenTransaction(source, [given], { transfers }));
}

const out = [moved(3, first, [pool, user]), moved(4, second, [pool, user])];
const amountIn = "257906356434275838";

describe("Sudoswap v2", () => {
  it("a pool sells for what the buyer pays in all: a row for each NFT", () => {
    const args = { amountIn, ids: ["7", "8"] };
    const { sales } = swap("SudoswapV2", { args }, out);
    expect(sales).toMatchObject([
      { version: "2", side: "ask", seller: pool, buyer: user, totalWei: "128953178217137919" },
      { tokenId: "8", totalWei: "128953178217137919", currency: zeroAddress },
    ]);
  });

  it("a pool buys for what the seller gets and the royalty; its owner may choose the receiver", () => {
    const args = { amountOut: "900", royaltyAmount: "50", ids: ["7"] };
    const event = { event: "SwapNFTInPair", args };
    expect(
      swap("SudoswapV2Royalty", event, [moved(3, first, [user, recipient])]).sales,
    ).toMatchObject([
      { side: "bid", seller: user, buyer: recipient, totalWei: "950", netWei: "900" },
    ]);
  });

  it("units of an ERC-1155 id; the coin that was paid is the currency", () => {
    const args = { amountIn: "1000", numNFTs: "3" };
    const transfers = [
      paid(1, coin, [user, pool], "995"),
      paid(2, coin, [user, protocol], "5"),
      moved(3, first, [pool, user], "3"),
    ];
    expect(swap("SudoswapV2Erc1155", { args }, transfers).sales).toMatchObject([
      { quantity: "3", totalWei: "1000", currency: coin },
    ]);
  });

  it("no unit of an ERC-1155 id, as its contract may say, is unresolved", () => {
    const args = { amountIn: "1000", ids: ["7"] };
    const unresolved = swap("SudoswapV2", { args }, [moved(3, first, [pool, user], "0")]);
    expect(unresolved).toEqual({ sales: [], unresolved: ["units_out_of_range"] });
  });

  it("an event of a contract that no factory created is unresolved, as is one without its tokens", () => {
    const args = { amountIn, ids: ["7", "8"] };
    expect(swap("SudoswapV2", { args, factory: null }, out).unresolved).toEqual(["unknown_pool"]);
    expect(swap("SudoswapV2", { args, factory: sudoswapFactories["1"] }, out).unresolved).toEqual([
      "unknown_pool",
    ]);
    expect(swap("SudoswapV2", { args }, out.slice(1)).unresolved).toEqual(["transfer_mismatch"]);
    expect(swap("SudoswapV2", { args }, []).unresolved).toEqual(["transfer_missing"]);
  });
});

describe("the currency of a pool of Sudoswap v2", () => {
  const stated = "1000000000000000000000";
  const moves: [string, ReturnType<typeof moved>[]][] = [
    ["nothing", []],
    ["all of the price", [paid(1, worthless, [user, pool], stated)]],
    ["another amount", [paid(1, worthless, [user, pool], "1")]],
    ["the price in a coin that is not the pool's", [paid(1, coin, [user, recipient], stated)]],
  ];
  const soldFor = (paidIn: { coin?: Address | null }, transfers: ReturnType<typeof moved>[]) =>
    swap("SudoswapV2", { args: { amountIn: stated, ids: ["7"] }, ...paidIn }, [
      ...transfers,
      moved(3, first, [pool, user]),
    ]);
  const boughtFor = (paidIn: { coin?: Address | null }, transfers: ReturnType<typeof moved>[]) => {
    const event = { event: "SwapNFTInPair", args: { amountOut: stated, ids: ["7"] }, ...paidIn };
    return swap("SudoswapV2", event, [...transfers, moved(3, first, [user, pool])]);
  };

  it.each(moves)(
    "is what the pool says where logs tell that the buyer moved %s",
    (_, transfers) => {
      for (const currency of [zeroAddress, worthless, coin]) {
        const expected = [{ currency, totalWei: stated }];
        expect(soldFor({ coin: currency }, transfers).sales).toMatchObject(expected);
        expect(boughtFor({ coin: currency }, transfers).sales).toMatchObject(expected);
      }
    },
  );

  it.each(moves)("is unknown where the pool says none and the buyer moved %s", (_, transfers) => {
    const unresolved = { sales: [], unresolved: ["currency_unknown"] };
    expect(soldFor({ coin: null }, transfers)).toEqual(unresolved);
    expect(boughtFor({ coin: null }, transfers)).toEqual(unresolved);
  });

  it("follows from the transfers where the pool was not asked, as by earlier releases", () => {
    const inCoin = [paid(1, coin, [user, pool], stated)];
    expect(soldFor({}, inCoin).sales).toMatchObject([{ currency: coin }]);
    expect(soldFor({}, []).sales).toMatchObject([{ currency: zeroAddress }]);
  });
});

describe("Sudoswap v1", () => {
  it("has a price where a coin was paid, by the coin's transfers", () => {
    const coins = [paid(1, coin, [user, pool], "995"), paid(2, coin, [user, protocol], "5")];
    expect(swap("SudoswapV1", {}, [...coins, moved(3, first, [pool, user])]).sales).toMatchObject([
      { version: "1", totalWei: "1000", netWei: "995", currency: coin, buyer: user },
    ]);
  });

  it("is unresolved where ether was paid, which no log tells", () => {
    expect(swap("SudoswapV1", {}, out).unresolved).toEqual(["price_unknown"]);
  });
});
