import { type Address, numberToHex, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import type { Exchange, TokenTransfer, Trade, UnresolvedEvent } from "./exchange.ts";
import { settleTrades } from "./settle-trades.ts";

const addressOf = (n: number): Address => numberToHex(n, { size: 20 });
const [collection, alice, router, bob, carol] = [1, 2, 3, 4, 5].map(addressOf) as [
  ...[Address, Address, Address, Address, Address],
];

function exchange(name: string, eventsWithTransfers = ["Sold"]): Exchange {
  const source = {
    name,
    events: [],
    eventsWithCall: [],
    eventsWithTransfers,
    deployed: () => null,
  };
  return { protocol: name, sources: [source], tradesOf: () => [] };
}
const [bazaar, souk] = [exchange("bazaar"), exchange("souk")];

function trade(seller: Address, buyer: Address, logIndex: number, more: Partial<Trade> = {}) {
  const item = { contract: collection, tokenId: "7", units: 1n, seller, buyer };
  const price = { currency: zeroAddress, totalWei: 1000n, fees: [], side: "ask" } as const;
  const place = { exchange: addressOf(9), protocolVersion: "1", orderHash: null, zones: [] };
  return { items: [item], ...price, ...place, logIndex, ...more } satisfies Trade;
}

const itemsOf = (units: bigint) => ({
  items: [{ contract: collection, tokenId: "7", units, seller: alice, buyer: bob }],
});

function moved(from: Address, to: Address, logIndex: number, tokenId = "7"): TokenTransfer {
  return {
    ...{ logIndex, from, to, tokenId },
    ...({ standard: "erc721", contract: collection, amount: "1" } as const),
  };
}

function settle(
  fills: readonly [Exchange, Trade | UnresolvedEvent][],
  transfers: readonly TokenTransfer[],
) {
  const placed = fills.map(([one, fill], place) => {
    return { exchange: one, place, itemsBefore: place, fill };
  });
  return settleTrades(placed, transfers).map(({ fill }) =>
    "unresolved" in fill
      ? fill.unresolved
      : fill.items.map(({ seller, buyer, via }) => ({ seller, buyer, via })),
  );
}

describe("settleTrades", () => {
  it("names the buyer who took the token himself", () => {
    const sold = settle([[bazaar, trade(alice, bob, 2)]], [moved(alice, bob, 1)]);
    expect(sold).toEqual([[{ seller: alice, buyer: bob, via: null }]]);
  });

  it("names who has the token in the end as the buyer, and the router that took it", () => {
    const transfers = [moved(alice, router, 1), moved(alice, bob, 3, "8"), moved(router, bob, 5)];
    const sold = settle([[bazaar, trade(alice, router, 2)]], transfers);
    expect(sold).toEqual([[{ seller: alice, buyer: bob, via: router }]]);
  });

  it("takes a token that was sold on for two sales, on one exchange or on two", () => {
    const transfers = [moved(alice, router, 1), moved(router, carol, 4)];
    for (const second of [bazaar, souk]) {
      const sold = settle(
        [
          [bazaar, trade(alice, router, 2)],
          [second, trade(router, carol, 5)],
        ],
        transfers,
      );
      expect(sold).toEqual([
        [{ seller: alice, buyer: router, via: null }],
        [{ seller: router, buyer: carol, via: null }],
      ]);
    }
  });

  it("makes one sale of a trade that two events tell: the first one's", () => {
    const fills: [Exchange, Trade][] = [
      [bazaar, trade(alice, bob, 8)],
      [souk, trade(alice, bob, 2)],
    ];
    const sold = settle(fills, [moved(alice, bob, 1)]);
    expect(sold).toEqual(["duplicate", [{ seller: alice, buyer: bob, via: null }]]);
  });

  it("leaves the transfers of an unresolved bundle to the event that they are of", () => {
    const item = { contract: collection, tokenId: "8", units: 1n, seller: alice, buyer: bob };
    const bundle = [...itemsOf(1n).items, item];
    const fills: [Exchange, Trade][] = [
      [bazaar, trade(alice, bob, 2, { items: bundle })],
      [souk, trade(alice, bob, 5)],
    ];
    const sold = settle(fills, [moved(alice, bob, 1)]);
    expect(sold).toEqual(["transfer_missing", [{ seller: alice, buyer: bob, via: null }]]);
  });

  it.each([
    ["zero_price", { totalWei: 0n }],
    ["price_out_of_range", { totalWei: 10n ** 27n + 1n }],
    ["price_out_of_range", { fees: [{ recipient: carol, wei: 1001n }] }],
    ["units_out_of_range", itemsOf(0n)],
    ["units_out_of_range", itemsOf(-1n)],
    ["units_out_of_range", itemsOf(2n ** 256n)],
  ] as const)("leaves unresolved a trade with %s", (reason, more) => {
    expect(settle([[bazaar, trade(alice, bob, 2, more)]], [moved(alice, bob, 1)])).toEqual([
      reason,
    ]);
  });

  it("sells for the largest price that there is", () => {
    const sold = settle(
      [[bazaar, trade(alice, bob, 2, { totalWei: 10n ** 27n })]],
      [moved(alice, bob, 1)],
    );
    expect(sold).toHaveLength(1);
    expect(sold).not.toContain("price_out_of_range");
  });

  it("leaves unresolved a trade whose token moved between others, or not at all", () => {
    const fills: [Exchange, Trade][] = [[bazaar, trade(alice, bob, 2)]];
    expect(settle(fills, [moved(alice, carol, 1)])).toEqual(["transfer_mismatch"]);
    expect(settle(fills, [moved(alice, bob, 1, "8")])).toEqual(["transfer_missing"]);
  });

  it("believes events that are stored without transfers", () => {
    const plain = exchange("plain", []);
    const sold = settle([[plain, trade(alice, bob, 2)]], [moved(alice, carol, 1)]);
    expect(sold).toEqual([[{ seller: alice, buyer: bob, via: null }]]);
  });

  it("does not take a burn for a buyer", () => {
    const transfers = [moved(alice, bob, 1), moved(bob, zeroAddress, 3)];
    expect(settle([[bazaar, trade(alice, bob, 2)]], transfers)).toEqual([
      [{ seller: alice, buyer: bob, via: null }],
    ]);
  });
});
