import { type Address, type Hex, numberToHex } from "viem";
import { expect, it } from "vitest";
import { sudoswapFactories } from "../../../abis/sudoswap.ts";
import { factKind } from "../../log/fact-kind.ts";
import { deriveFeed } from "./derive-feed.ts";
import type { FeedFact } from "./fact.ts";

const addressOf = (n: number): Address => numberToHex(n, { size: 20 });
const hash: Hex = numberToHex(7, { size: 32 });
const [pool, stranger, collection, buyer] = [1, 2, 3, 4].map(addressOf) as [
  ...[Address, Address, Address, Address],
];
const rules = {
  feeRecipient: addressOf(9),
  standsFor: (_: number, one: Address) => one,
  orders: [],
};

/** A token left the pool with log index 10 and 20. */
const transfers = [10, 20].map((logIndex, index) => ({
  ...{ logIndex, standard: "erc721", contract: collection, from: pool, to: buyer },
  ...{ tokenId: `${index}`, amount: "1" },
}));

const none = {
  ...{ subIndex: 0, tokenId: null, amount: null, from: null, to: null, orderHash: null },
};

function swapped(logIndex: number, contract: Address, payload: object): FeedFact {
  const position = BigInt(logIndex);
  const source = { source: "SudoswapV2", event: "SwapNFTOutPair", sender: buyer, target: pool };
  const args = { amountIn: "1000", ids: [logIndex === 11 ? "0" : "1"] };
  return {
    ...none,
    ...{ position, kind: factKind.exchange_event, chainId: 1, blockId: 1n, blockNumber: 1n },
    ...{ blockHash: hash, txHash: hash, transactionIndex: 0, logIndex, contract },
    timestamp: new Date(0),
    payload: { ...source, args, ...payload },
  };
}

it("events of a pool that no factory created change nothing of a transaction's sales", () => {
  const created = { factory: sudoswapFactories["2"] };
  const real = [swapped(11, pool, { ...created, transfers }), swapped(21, pool, created)];
  const fakes = [1, 5, 12, 15, 19, 25].map((logIndex) =>
    swapped(logIndex, stranger, { factory: null, calldataTail: "0x01020304" }),
  );
  const mixed = [...real, ...fakes].toSorted((a, b) => Number(a.position - b.position));
  const sold = deriveFeed(real, rules);
  expect(sold.map(({ content }) => content.type)).toEqual(["sale", "sale"]);
  expect(deriveFeed(mixed, rules)).toEqual(sold);
  expect(deriveFeed(fakes, rules)).toEqual([]);
});
