import { type Hex, numberToHex, zeroAddress } from "viem";
import { type Block, type MinedTransaction, wireHeader } from "../chain/block.ts";
import type { ProvableChain } from "../chain/provable-chain.ts";
import { callContract, codeAt, type Description } from "./contracts.ts";
import type { Faults } from "./faults.ts";
import { type LogFilter, logsOfTransaction, type ServedLog } from "./filter-logs.ts";
import {
  alteredLog,
  type NodeView,
  RefusedCall,
  refusePruned,
  selectLogs,
  spoil,
} from "./serve-logs.ts";

type Methods = Readonly<Record<string, (params: readonly unknown[]) => unknown>>;

type Backend = {
  readonly chain: ProvableChain;
  readonly faults: Faults;
  readonly draw: (share: number) => boolean;
  readonly description: Description;
};

const unknownTag = (tag: string) =>
  new RefusedCall({ code: -39_001, message: `${tag} block not found` });

/** The methods of a node as one request sees them: a balancer may have sent it to a node that is behind. */
export function openMethods(backend: Backend, isOfLogs: boolean): Methods {
  const { chain, description } = backend;
  const view = viewOf(backend, isOfLogs);
  const blockOf = (tag: unknown) =>
    isHash(tag) ? view.blockOf(tag) : lookedUp(view, view.numberOf(tag));
  return {
    eth_chainId: () => numberToHex(chain.chainId),
    net_version: () => `${chain.chainId}`,
    web3_clientVersion: () => "Reliability/v1.0.0",
    eth_syncing: () => false,
    eth_gasPrice: () => "0x1",
    eth_blockNumber: () => numberToHex(view.headNumber),
    eth_getBlockByNumber: ([tag, isFull]) => wireBlock(blockOf(tag), isFull === true),
    eth_getBlockByHash: ([hash, isFull]) => wireBlock(blockOf(hash), isFull === true),
    eth_getLogs: ([filter]) => selectLogs(view, filter as LogFilter),
    eth_getBlockReceipts: ([tag]) => blockReceipts(view, blockOf(blockHashIn(tag))),
    eth_getTransactionReceipt: ([hash]) => receiptOf(view, chain.transactionOf(hash as Hex)),
    eth_getTransactionByHash: ([hash]) => {
      const place = chain.transactionOf(hash as Hex);
      return place === undefined ? null : wireTransaction(place.block, place.index);
    },
    eth_getBalance: () => "0x0",
    eth_getTransactionCount: () => "0x0",
    eth_getCode: ([address]) => codeAt(String(address)),
    eth_call: ([call]) => {
      const {
        to = zeroAddress,
        data,
        input,
      } = call as { to?: string; data?: string; input?: string };
      const result = callContract(to, data ?? input ?? "0x", description);
      if (result === null) throw new RefusedCall({ code: 3, message: "execution reverted" });
      return result;
    },
  };
}

const isHash = (tag: unknown): tag is Hex => typeof tag === "string" && tag.length === 66;

/** A block may be named by an object (EIP-1898). */
const blockHashIn = (tag: unknown): unknown =>
  typeof tag === "object" && tag !== null && "blockHash" in tag ? tag.blockHash : tag;

function viewOf({ chain, faults, draw }: Backend, isOfLogs: boolean): NodeView {
  const { lag } = faults;
  const isBehind = lag !== null && (lag.of === "all" || isOfLogs) && draw(lag.share);
  const headNumber = Math.max(chain.firstBlock, chain.head().number - (isBehind ? lag.blocks : 0));
  const isKnown = (block: Block | undefined) => block !== undefined && block.number <= headNumber;
  const numberOf = (tag: unknown): number => {
    if (tag === "latest" || tag === "safe" || tag === "pending") return headNumber;
    if (tag === "earliest") return earliestOf(chain, faults);
    if (tag !== "finalized") return Number(tag);
    if (faults.finalizedDepth === null) throw unknownTag(tag);
    return Math.max(chain.firstBlock, headNumber - faults.finalizedDepth);
  };
  return {
    ...{ faults, draw, headNumber, numberOf },
    blockAt(number) {
      const block = chain.blockAt(number);
      return isKnown(block) ? block : undefined;
    },
    blockOf(hash) {
      const block = chain.blockOf(hash as Hex);
      return isKnown(block) ? block : undefined;
    },
  };
}

/** A node that says that it lacks history names its oldest block. */
const earliestOf = ({ firstBlock }: ProvableChain, { pruned }: Faults): number =>
  pruned === null || pruned.answer === "empty" ? firstBlock : pruned.below;

function lookedUp(view: NodeView, number: number): Block | undefined {
  const { faults, draw } = view;
  const left = faults.nullsLeft.get(number) ?? 0;
  if (left > 0) faults.nullsLeft.set(number, left - 1);
  return left > 0 || draw(faults.nullBlocks) ? undefined : view.blockAt(number);
}

function wireBlock(block: Block | undefined, isFull: boolean) {
  if (block === undefined) return null;
  const transactions = block.transactions.map(({ hash }, index) =>
    isFull ? wireTransaction(block, index) : hash,
  );
  return { ...wireHeader(block), transactions };
}

function wireTransaction(block: Block, index: number) {
  const transaction = transactionAt(block, index);
  const { hash, type, nonce, from, to, input, value } = transaction;
  const signature = { v: "0x0", r: "0x1", s: "0x1", yParity: "0x0" };
  return {
    ...{ hash, type, nonce: numberToHex(nonce), from, to, input, value: numberToHex(value) },
    ...{ blockHash: block.hash, blockNumber: numberToHex(block.number) },
    ...{ transactionIndex: numberToHex(index), chainId: numberToHex(1) },
    ...{ gas: numberToHex(1_000_000), gasPrice: "0x2", maxFeePerGas: "0x2" },
    ...{ maxPriorityFeePerGas: "0x1", accessList: [], ...signature },
  };
}

function transactionAt({ number, transactions }: Block, index: number): MinedTransaction {
  const transaction = transactions[index];
  if (transaction === undefined) throw new Error(`block ${number} has no transaction ${index}`);
  return transaction;
}

function blockReceipts(view: NodeView, block: Block | undefined) {
  const { faults } = view;
  if (faults.receipts === "unknown") {
    const message = "the method eth_getBlockReceipts does not exist/is not available";
    throw new RefusedCall({ code: -32_601, message });
  }
  if (block === undefined) return null;
  refusePruned(faults.pruned, [block]);
  if (faults.pruned !== null && block.number < faults.pruned.below) return null;
  return block.transactions.map((_, index) => wireReceipt(view, block, index));
}

function receiptOf(view: NodeView, place: { block: Block; index: number } | undefined) {
  if (place === undefined || place.block.number > view.headNumber) return null;
  const { pruned } = view.faults;
  refusePruned(pruned, [place.block]);
  if (pruned !== null && place.block.number < pruned.below) return null;
  return wireReceipt(view, place.block, place.index);
}

const spoilerOf: Record<Faults["receipts"], (log: ServedLog) => ServedLog> = {
  well: (log) => log,
  unknown: (log) => log,
  altered: alteredLog,
  misplaced: (log) => ({ ...log, logIndex: numberToHex(2 * Number(log.logIndex)) }),
};

function wireReceipt({ faults, draw }: NodeView, block: Block, index: number) {
  const transaction = transactionAt(block, index);
  const { hash, type, from, to, gasUsed, cumulativeGasUsed, logsBloom } = transaction;
  const served = logsOfTransaction(block, transaction, index);
  const logs = spoil(served, { ...faults, altered: 0, hasWrongHashes: false }, draw, false);
  return {
    ...{ transactionHash: hash, type, from, to, contractAddress: null, logsBloom, status: "0x1" },
    ...{ transactionIndex: numberToHex(index), blockHash: block.hash },
    ...{ blockNumber: numberToHex(block.number), effectiveGasPrice: "0x2" },
    ...{ gasUsed: numberToHex(gasUsed), cumulativeGasUsed: numberToHex(cumulativeGasUsed) },
    logs: logs.map(spoilerOf[faults.receipts]),
  };
}
