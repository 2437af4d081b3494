import { type Address, type Hex, numberToHex, zeroAddress } from "viem";
import { blurAddresses } from "#abis/blur.ts";
import { seaportAddresses } from "#abis/deployments.ts";

/** What a transaction of the generated chain does with one token. */
type Kind = "mint" | "transfer" | "seaport" | "blur";

export type Transaction = {
  readonly number: number;
  readonly block: number;
  readonly kind: Kind;
  readonly contract: Address;
  readonly tokenId: number;
  readonly from: Address;
  readonly to: Address;
  readonly milliwei: number;
};

export type GeneratedChain = {
  /** Number of the last block with a transaction; block 0 has none. */
  readonly lastBlock: number;
  readonly blurSales: number;
  transactionsOf(block: number): Transaction[];
  /** The block of a transaction. */
  blockOf(number: number): number;
};

/** About how many facts, and how many transactions each block has. */
export type ChainSize = { readonly facts: number; readonly transactionsInBlock: number };

export const collections = 50;
export const accounts = 20_000;
/** Each token is minted and changes hands nine times. */
const rounds = 10;
/** In percent of the changes of hands; the rest are plain transfers. */
const shares = { blur: 4, seaport: 60 } as const;
/** Facts of a token's life: each change of hands, and each of Seaport's fills. */
const factsOfToken = rounds + ((rounds - 1) * shares.seaport) / 100;

/**
 * A chain with about `facts` facts of Seaport's fills and of transfers, and some of Blur's. Each transaction follows from
 * its number alone, so that nothing is kept in memory: in every round each token changes hands once.
 */
export function generateChain({ facts, transactionsInBlock }: ChainSize): GeneratedChain {
  const tokens = Math.ceil(facts / factsOfToken);
  const last = tokens * rounds;
  const lastBlock = Math.ceil(last / transactionsInBlock);
  const blockOf = (number: number) => Math.floor(number / transactionsInBlock) + 1;
  let blurSales = 0;
  for (let number = 0; number < last; number += 1) {
    if (kindOf(number, tokens) === "blur") blurSales += 1;
  }
  return {
    ...{ lastBlock, blurSales, blockOf },
    transactionsOf(block) {
      if (block < 1 || block > lastBlock) return [];
      const first = (block - 1) * transactionsInBlock;
      const count = Math.min(transactionsInBlock, last - first);
      return Array.from({ length: count }, (_, index) => ({
        ...transactionAt(first + index, tokens),
        block,
      }));
    },
  };
}

function kindOf(number: number, tokens: number): Kind {
  if (number < tokens) return "mint";
  const percent = draw(number, 1, 100);
  if (percent < shares.blur) return "blur";
  return percent < shares.blur + shares.seaport ? "seaport" : "transfer";
}

function transactionAt(number: number, tokens: number): Omit<Transaction, "block"> {
  const round = Math.floor(number / tokens);
  const token = number % tokens;
  const owner = (at: number) => accountAt(draw(token, at + 2, accounts));
  return {
    number,
    kind: kindOf(number, tokens),
    contract: collectionAt(token % collections),
    tokenId: Math.floor(token / collections),
    from: round === 0 ? zeroAddress : owner(round - 1),
    to: owner(round),
    milliwei: 1 + draw(number, 3, 900),
  };
}

/** A pseudo-random number below `bound` of an integer and a series. */
export function draw(value: number, series: number, bound: number): number {
  let mixed = (Math.imul(value + 1, 0x9e3779b1) ^ Math.imul(series, 0x85ebca6b)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97) >>> 0;
  return ((mixed ^ (mixed >>> 15)) >>> 0) % bound;
}

const named = (prefix: string, index: number): Address =>
  `0x${prefix}${index.toString(16).padStart(40 - prefix.length, "0")}`;
export const collectionAt = (index: number): Address => named("c011ec", index);
export const accountAt = (index: number): Address => named("acc0", index + 1);

const hashed = (prefix: string, index: number): Hex =>
  `0x${prefix}${index.toString(16).padStart(64 - prefix.length, "0")}`;
export const blockHash = (block: number): Hex => hashed("b10c", block);
export const transactionHash = (number: number): Hex => hashed("7ac5", number);
export const numberOfHash = (hash: string): number => Number(`0x${hash.slice(6)}`);
export const orderHash = (number: number): Hex => hashed("04de4", number);

/** The contract that a transaction calls. */
export function targetOf({ kind, contract }: Transaction): Address {
  if (kind === "seaport") return seaportAddresses["1.6"];
  return kind === "blur" ? blurAddresses.v2 : contract;
}

export const quantity = (value: number): Hex => numberToHex(value);
