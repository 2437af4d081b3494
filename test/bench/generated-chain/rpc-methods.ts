import { pad } from "viem";
import { blurAddresses } from "#abis/blur.ts";
import {
  blockHash,
  type GeneratedChain,
  numberOfHash,
  quantity,
  type Transaction,
  targetOf,
  transactionHash,
} from "./chain.ts";
import { type Filter, isEmitted, logsOf, type WireLog, wantedBy, wantedLogsOf } from "./logs.ts";

/** Requests for blocks with transactions: what Blur needs, and anything else. */
export type RequestCounts = Record<
  "blurRanges" | "otherRanges" | "blurBlocks" | "otherBlocks" | "blurReceipts" | "otherReceipts",
  number
>;

export const noRequests = (): RequestCounts => ({
  ...{ blurRanges: 0, otherRanges: 0, blurBlocks: 0, otherBlocks: 0 },
  ...{ blurReceipts: 0, otherReceipts: 0 },
});

export type RpcMethods = Record<string, (params: unknown[]) => unknown>;

const emptyBlocks = 200;
const blurContracts = new Set<string>(Object.values(blurAddresses));
const zeroHash = pad("0x", { size: 32 });
const bloom = { none: pad("0x", { size: 256 }), any: `0x${"ff".repeat(256)}` };

/** The methods that an indexer calls. The chain grows by an empty block a second; `count` gets each request for a block with transactions. */
export function openRpcMethods(
  chain: GeneratedChain,
  count: (what: keyof RequestCounts) => void,
): RpcMethods {
  const startedAt = Math.floor(Date.now() / 1_000);
  const firstHead = chain.lastBlock + emptyBlocks;
  const head = () => firstHead + Math.floor(Date.now() / 1_000) - startedAt;
  const heightOf = (tag: unknown) =>
    ["latest", "safe", "finalized", "pending"].includes(String(tag)) ? head() : Number(tag);

  const blockAt = (number: number, full: boolean) => {
    if (number > head()) return null;
    const transactions = chain.transactionsOf(number);
    if (transactions.length > 0) count(transactions.some(isOfBlur) ? "blurBlocks" : "otherBlocks");
    // Twelve seconds a block up to the start, then one.
    const after = number - firstHead;
    return {
      ...emptyBlock,
      ...{ number: quantity(number), hash: blockHash(number), parentHash: blockHash(number - 1) },
      timestamp: quantity(startedAt + (after > 0 ? after : 12 * after)),
      logsBloom: transactions.length > 0 ? bloom.any : bloom.none,
      transactions: transactions.map((one, index) =>
        full ? wireTransaction(one, index) : transactionHash(one.number),
      ),
    };
  };
  const receiptOf = (number: number) => {
    const transactions = chain.transactionsOf(chain.blockOf(number));
    const index = transactions.findIndex((one) => one.number === number);
    const transaction = transactions[index];
    if (transaction === undefined) return null;
    count(isOfBlur(transaction) ? "blurReceipts" : "otherReceipts");
    return wireReceipt(transaction, index);
  };
  const selectLogs = (filter: Filter): WireLog[] => {
    const { fromBlock, toBlock, blockHash: hash } = filter;
    const from = hash === undefined ? heightOf(fromBlock) : numberOfHash(hash);
    const to = Math.min(hash === undefined ? heightOf(toBlock) : from, chain.lastBlock);
    if (from > to) return [];
    const wanted = wantedBy(filter);
    const { addresses } = wanted;
    const isBlurs = addresses !== null && [...addresses].every((one) => blurContracts.has(one));
    count(isBlurs ? "blurRanges" : "otherRanges");
    if (!isEmitted(wanted)) return [];
    const blocks = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    return blocks.flatMap((number) =>
      chain.transactionsOf(number).flatMap((one, index) => wantedLogsOf(one, index, wanted)),
    );
  };
  return {
    eth_chainId: () => "0x1",
    eth_blockNumber: () => quantity(head()),
    eth_getBlockByNumber: ([tag, full]) => blockAt(heightOf(tag), full === true),
    eth_getBlockByHash: ([hash, full]) => blockAt(numberOfHash(String(hash)), full === true),
    eth_getTransactionReceipt: ([hash]) => receiptOf(numberOfHash(String(hash))),
    eth_getLogs: ([filter]) => selectLogs(filter as Filter),
  };
}

const isOfBlur = ({ kind }: Transaction): boolean => kind === "blur";

function wireTransaction(transaction: Transaction, index: number) {
  const { number, block, kind, from, to } = transaction;
  return {
    ...{ hash: transactionHash(number), blockHash: blockHash(block), blockNumber: quantity(block) },
    ...{ transactionIndex: quantity(index), from: kind === "transfer" ? from : to },
    ...{ to: targetOf(transaction), input: "0x12345678360c6ebe", value: "0x0", gas: "0x0" },
    ...{ gasPrice: "0x1", nonce: "0x0", type: "0x0", v: "0x1b", r: "0x1", s: "0x1" },
  };
}

function wireReceipt(transaction: Transaction, index: number) {
  const { hash, from, to, ...position } = wireTransaction(transaction, index);
  const { blockHash, blockNumber, transactionIndex } = position;
  return {
    ...{ transactionHash: hash, blockHash, blockNumber, transactionIndex, from, to },
    ...{ logs: logsOf(transaction, index), logsBloom: bloom.any, status: "0x1", type: "0x0" },
    ...{ cumulativeGasUsed: "0x0", gasUsed: "0x0", effectiveGasPrice: "0x1" },
    contractAddress: null,
  };
}

const emptyBlock = {
  ...{ miner: pad("0x", { size: 20 }), nonce: "0x0000000000000000", mixHash: zeroHash },
  ...{ sha3Uncles: zeroHash, stateRoot: zeroHash, receiptsRoot: zeroHash },
  ...{ transactionsRoot: zeroHash, extraData: "0x", uncles: [], gasLimit: "0x1c9c380" },
  ...{ gasUsed: "0x0", size: "0x1", difficulty: "0x0", totalDifficulty: "0x0" },
  baseFeePerGas: "0x1",
};
