import type { Hex } from "viem";
import { numberToHex } from "viem";
import type { Block, MinedTransaction } from "../chain/block.ts";
import type { EmittedLog } from "../chain/contents.ts";

export type LogFilter = {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly blockHash?: Hex;
  readonly address?: Hex | Hex[] | null;
  readonly topics?: readonly (Hex | Hex[] | null)[];
};

/** A log as a node gives it. */
export type ServedLog = {
  address: Hex;
  topics: readonly Hex[];
  data: Hex;
  blockHash: Hex;
  blockNumber: Hex;
  blockTimestamp: Hex;
  transactionHash: Hex;
  transactionIndex: Hex;
  logIndex: Hex;
  removed: false;
};

/** Those of a block's logs that match, in order. */
export function servedLogs(block: Block, matches: (log: EmittedLog) => boolean): ServedLog[] {
  // Most of what is asked for is not there: nothing is made for it.
  return block.transactions.flatMap((transaction, index) =>
    transaction.logs.some(matches)
      ? logsOfTransaction(block, transaction, index).filter(matches)
      : [],
  );
}

export function logsOfTransaction(
  block: Block,
  { logs, firstLog, hash }: MinedTransaction,
  index: number,
): ServedLog[] {
  return logs.map(({ address, topics, data }, place) => ({
    ...{ address, topics, data, blockHash: block.hash, blockNumber: numberToHex(block.number) },
    ...{ blockTimestamp: numberToHex(block.timestamp), transactionHash: hash },
    ...{ transactionIndex: numberToHex(index), logIndex: numberToHex(firstLog + place) },
    removed: false as const,
  }));
}

export function matcherOf({ address, topics = [] }: LogFilter): (log: EmittedLog) => boolean {
  const addresses = setOf(address);
  const wanted = topics.map(setOf);
  return (log) =>
    (addresses === null || addresses.has(log.address.toLowerCase())) &&
    wanted.length <= log.topics.length &&
    wanted.every((one, place) => one === null || one.has(log.topics[place] ?? ""));
}

function setOf(value: Hex | Hex[] | null | undefined): Set<string> | null {
  if (value === null || value === undefined) return null;
  const values = [value].flat();
  // An empty list is any.
  return values.length === 0 ? null : new Set(values.map((one) => one.toLowerCase()));
}
