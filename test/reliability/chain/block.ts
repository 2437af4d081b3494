import {
  type Address,
  concat,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  toRlp,
  zeroAddress,
} from "viem";
import type { EmittedLog, PlannedTransaction } from "./contents.ts";
import { bloomOf, integer, trieRoot } from "./trie-root.ts";

/** How blocks of a chain look: Ethereum's, or those of a chain made with Arbitrum's software. */
export type ChainStyle = "ethereum" | "orbit";

export type MinedTransaction = PlannedTransaction & {
  readonly hash: Hex;
  /** Of EIP-2718, as a byte. */
  readonly type: Hex;
  readonly nonce: number;
  readonly gasUsed: bigint;
  readonly cumulativeGasUsed: bigint;
  readonly logsBloom: Hex;
  /** Index of its first log in the block. */
  readonly firstLog: number;
};

/** The parts of a header by which a node proves what it says of a block. */
export type Block = {
  readonly number: number;
  readonly branch: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly timestamp: number;
  readonly logsBloom: Hex;
  readonly receiptsRoot: Hex;
  readonly transactionsRoot: Hex;
  readonly gasUsed: bigint;
  readonly extraData: Hex;
  readonly mixHash: Hex;
  readonly style: ChainStyle;
  /** Bytes of its header in RLP. */
  readonly size: number;
  readonly transactions: readonly MinedTransaction[];
};

export type BlockPlace = {
  readonly chainId: number;
  readonly style: ChainStyle;
  readonly number: number;
  readonly branch: number;
  readonly parentHash: Hex;
  /** Unix seconds. */
  readonly timestamp: number;
};

export const zeroHash = pad("0x", { size: 32 });
const emptyUncles = keccak256(toRlp([]));
const emptyTrie = trieRoot([]);
const noRequests: Hex = "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const gasLimit = 36_000_000n;
const gasOfLog = 1_800n;

/** Makes the block: its hash is its header's, its roots and its filter are those of what it holds. */
export function mineBlock(place: BlockPlace, planned: readonly PlannedTransaction[]): Block {
  const { number, branch, style, parentHash, timestamp } = place;
  const raw = planned.map((one, index) => signed(one, place, index));
  const internal = style === "orbit" ? [internalTransaction(place)] : [];
  const encoded = [...internal, ...raw];
  const transactions = withGas(encoded);
  const header = {
    ...{ number, branch, style, parentHash, timestamp },
    logsBloom: bloomOf(transactions.flatMap(({ logs }) => logs)),
    receiptsRoot: trieRoot(transactions.map(encodeReceipt)),
    transactionsRoot: trieRoot(encoded.map(({ serialized }) => serialized)),
    gasUsed: transactions.at(-1)?.cumulativeGasUsed ?? 0n,
    extraData: style === "orbit" ? pad(numberToHex(number), { size: 32 }) : branchName(branch),
    mixHash: style === "orbit" ? orbitMixHash(number) : keccak256(pad(numberToHex(number))),
  };
  const bytes = encodeHeader(header);
  return { ...header, hash: keccak256(bytes), size: (bytes.length - 2) / 2, transactions };
}

type Serialized = PlannedTransaction &
  Pick<MinedTransaction, "hash" | "type" | "nonce"> & {
    readonly serialized: Hex;
  };

/** Of EIP-1559. Its signature is well-formed and nobody's. */
function signed(
  planned: PlannedTransaction,
  { chainId, number, branch }: BlockPlace,
  index: number,
): Serialized {
  const nonce = number * 100 + index;
  const signature = keccak256(
    pad(numberToHex(BigInt(number) * 1_000_000n + BigInt(branch * 1_000 + index))),
  );
  const fields = [
    ...[integer(chainId), integer(nonce), integer(1), integer(2), integer(1_000_000)],
    ...[planned.to, integer(planned.value), planned.input, [] as const],
    ...["0x" as const, withoutZeroes(signature), "0x01" as const],
  ];
  const serialized = concat(["0x02", toRlp(fields)]);
  return { ...planned, type: "0x2", nonce, serialized, hash: keccak256(serialized) };
}

/** The first one of every block of an Orbit chain. */
function internalTransaction({ chainId, number }: BlockPlace): Serialized {
  const arbOs: Address = "0x00000000000000000000000000000000000a4b05";
  const input = concat(["0x6bf6a42d", pad(numberToHex(number))]);
  const serialized = concat(["0x6a", toRlp([integer(chainId), input])]);
  const call = { from: arbOs, to: arbOs, input, value: 0n, logs: [] };
  return { ...call, type: "0x6a", nonce: 0, serialized, hash: keccak256(serialized) };
}

/** R and s of a signature are integers. */
const withoutZeroes = (value: Hex): Hex => integer(BigInt(value));

function withGas(transactions: readonly Serialized[]): MinedTransaction[] {
  let [cumulativeGasUsed, firstLog] = [0n, 0];
  return transactions.map(({ serialized: _, ...one }) => {
    const gasUsed = one.type === "0x6a" ? 0n : 21_000n + gasOfLog * BigInt(one.logs.length);
    cumulativeGasUsed += gasUsed;
    const mined = { ...one, gasUsed, cumulativeGasUsed, firstLog, logsBloom: bloomOf(one.logs) };
    firstLog += one.logs.length;
    return mined;
  });
}

function encodeReceipt({ type, cumulativeGasUsed, logsBloom, logs }: MinedTransaction): Hex {
  const fields = [integer(1), integer(cumulativeGasUsed), logsBloom, logs.map(encodeLog)] as const;
  return concat([type === "0x6a" ? "0x6a" : "0x02", toRlp(fields)]);
}

const encodeLog = ({ address, topics, data }: EmittedLog) => [address, topics, data] as const;

type HeaderFields = Omit<Block, "hash" | "size" | "transactions">;

/** With the fields of Prague; Orbit's blocks end with the base fee. */
function encodeHeader(header: HeaderFields): Hex {
  const { style } = header;
  const fields = [
    ...[header.parentHash, emptyUncles, minerOf(style), zeroHash],
    ...[header.transactionsRoot, header.receiptsRoot, header.logsBloom],
    ...[integer(style === "orbit" ? 1 : 0), integer(header.number), integer(gasLimit)],
    ...[integer(header.gasUsed), integer(header.timestamp), header.extraData, header.mixHash],
    ...[nonceOf(style), integer(1)],
    ...(style === "orbit" ? [] : [emptyTrie, integer(0), integer(0), zeroHash, noRequests]),
  ];
  return toRlp(fields);
}

const minerOf = (style: ChainStyle): Address =>
  style === "orbit" ? "0xa4b000000000000000000073657175656e636572" : zeroAddress;
const nonceOf = (style: ChainStyle): Hex =>
  style === "orbit" ? "0x0000000000000007" : "0x0000000000000000";
/** Blocks of two branches with the same contents have different hashes. */
const branchName = (branch: number): Hex => pad(numberToHex(branch), { size: 4 });

/** Count of sends, block of the parent chain, version of ArbOS. */
const orbitMixHash = (number: number): Hex =>
  concat([
    pad("0x", { size: 8 }),
    pad(numberToHex(20_000_000 + Math.floor(number / 48)), { size: 8 }),
    pad("0x20", { size: 8 }),
    pad("0x", { size: 8 }),
  ]);

/** Block as JSON-RPC has it, without its transactions. */
export function wireHeader(block: Block) {
  const { style } = block;
  return {
    ...{ number: numberToHex(block.number), hash: block.hash, parentHash: block.parentHash },
    ...{ sha3Uncles: emptyUncles, miner: minerOf(style), stateRoot: zeroHash },
    ...{ transactionsRoot: block.transactionsRoot, receiptsRoot: block.receiptsRoot },
    ...{ logsBloom: block.logsBloom, difficulty: style === "orbit" ? "0x1" : "0x0" },
    ...{ totalDifficulty: "0x0", gasLimit: numberToHex(gasLimit) },
    ...{ gasUsed: numberToHex(block.gasUsed), timestamp: numberToHex(block.timestamp) },
    ...{ extraData: block.extraData, mixHash: block.mixHash, nonce: nonceOf(style) },
    ...{ baseFeePerGas: "0x1", size: numberToHex(block.size), uncles: [] },
    ...(style === "orbit" ? orbitFields(block) : forkFields),
  };
}

const forkFields = {
  ...{ withdrawalsRoot: emptyTrie, withdrawals: [], blobGasUsed: "0x0", excessBlobGas: "0x0" },
  ...{ parentBeaconBlockRoot: zeroHash, requestsHash: noRequests },
};

const orbitFields = ({ number, extraData }: Block) => ({
  ...{ l1BlockNumber: numberToHex(20_000_000 + Math.floor(number / 48)) },
  ...{ sendCount: "0x0", sendRoot: extraData },
});
