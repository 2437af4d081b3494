import { type Address, type Hex, numberToHex } from "viem";
import { expect, it } from "vitest";
import { sudoswapFactories } from "#abis/sudoswap.ts";
import { factKind } from "../log/fact-kinds.ts";
import { deriveFeed } from "./derive-feed.ts";
import type { FeedFact } from "./feed-events.ts";

const addressOf = (n: number): Address => numberToHex(n, { size: 20 });
const hash: Hex = numberToHex(7, { size: 32 });
const [pool, stranger, collection, buyer] = [1, 2, 3, 4].map(addressOf) as [
  ...[Address, Address, Address, Address],
];
const rules = {
  feeRecipient: addressOf(9),
  standsFor: (_: number, one: Address) => one,
  orders: [],
  parts: new Map(),
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

/** A fact, and how often its payload is read. */
function watched(fact: FeedFact): { fact: FeedFact; reads: () => number } {
  let reads = 0;
  const { payload, ...rest } = fact;
  const observed = Object.defineProperty({ ...rest }, "payload", {
    enumerable: true,
    get: () => {
      reads += 1;
      return payload;
    },
  });
  return { fact: observed as FeedFact, reads: () => reads };
}

/** Swaps of one transaction, each of a token. */
function sweepOf(size: number): FeedFact[] {
  const logIndexes = Array.from({ length: size }, (_, index) => 11 + index * 10);
  const moved = logIndexes.map((logIndex, index) => ({
    ...{ logIndex: logIndex - 1, standard: "erc721", contract: collection, from: pool, to: buyer },
    ...{ tokenId: `${index}`, amount: "1" },
  }));
  return logIndexes.map((logIndex, index) => {
    const args = { amountIn: "1000", ids: [`${index}`] };
    const stored = index === 0 ? { transfers: moved } : {};
    return swapped(logIndex, pool, { factory: sudoswapFactories["2"], args, ...stored });
  });
}

it("reads each fact of a transaction as often as if it were the only one", () => {
  const readsPerFact = (size: number) => {
    const facts = sweepOf(size).map(watched);
    const parts = new Map(facts.map(({ fact }) => [fact.position, facts[0]?.fact.position ?? 0n]));
    const sold = deriveFeed(
      facts.map(({ fact }) => fact),
      { ...rules, parts },
    );
    expect(sold.map(({ position }) => position)).toEqual(facts.map(({ fact }) => fact.position));
    return Math.max(...facts.map(({ reads }) => reads()));
  };
  expect(readsPerFact(300)).toBeLessThanOrEqual(readsPerFact(2));
});

it("parts of a transaction give the same sales, together or apart", () => {
  const facts = sweepOf(6);
  const together = new Map(facts.map(({ position }) => [position, facts[0]?.position ?? 0n]));
  const sold = deriveFeed(facts, { ...rules, parts: together });
  expect(sold).toHaveLength(6);
  expect(deriveFeed(facts, rules)).toEqual(sold);
});

it("a range of ids that ends before it begins is no transfer", () => {
  const range = (logIndex: number, amount: bigint): FeedFact => ({
    ...swapped(logIndex, collection, {}),
    ...{ kind: factKind.erc721_consecutive_transfer, tokenId: 5n, amount, from: pool, to: buyer },
  });
  const events = deriveFeed([range(1, -3n), range(2, 0n), range(3, 1n)], rules);
  expect(events.map(({ content }) => [content?.logIndex, content?.quantity])).toEqual([[3, 1n]]);
});
