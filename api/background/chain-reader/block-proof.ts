import { type Hex, hexToBytes, keccak256, toRlp } from "viem";
import { orderedTrieRoot } from "./trie-root.ts";

/** A block as nodes answer it; `transactions`: hashes or whole. Fields that are not named here are kept as they are. */
export type RpcBlock = {
  readonly number: Hex;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly timestamp: Hex;
  readonly logsBloom: Hex;
  readonly receiptsRoot: Hex;
  readonly transactions: readonly (Hex | { readonly hash: Hex })[];
  readonly [field: string]: unknown;
};

/** A log as nodes answer it. */
export type RpcLog = {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: Hex;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
  readonly transactionIndex: Hex;
  readonly logIndex: Hex;
  readonly [field: string]: unknown;
};

export type RpcReceipt = {
  readonly type?: Hex;
  readonly status?: Hex;
  readonly root?: Hex;
  readonly cumulativeGasUsed: Hex;
  readonly logsBloom: Hex;
  readonly logs: readonly RpcLog[];
  readonly transactionHash: Hex;
  readonly [field: string]: unknown;
};

/** In the order of a header's RLP; the last ones came with forks, and may be absent (EIP-1559, 4895, 4844, 4788, 7685). */
const headerFields = [
  ...["parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot"],
  ...["logsBloom", "difficulty", "number", "gasLimit", "gasUsed", "timestamp", "extraData"],
  ...["mixHash", "nonce", "baseFeePerGas", "withdrawalsRoot", "blobGasUsed", "excessBlobGas"],
  ...["parentBeaconBlockRoot", "requestsHash"],
] as const;
const quantities = new Set([
  ...["difficulty", "number", "gasLimit", "gasUsed", "timestamp", "baseFeePerGas"],
  ...["blobGasUsed", "excessBlobGas"],
]);

/** Whether a block's hash is that of its header: what the header commits to is then as certain as the hash. */
export function isHashOfHeader(block: RpcBlock): boolean {
  const fields: Hex[] = [];
  for (const name of headerFields) {
    const value = block[name];
    if (typeof value !== "string") continue;
    fields.push(quantities.has(name) ? rlpQuantity(value as Hex) : (value as Hex));
  }
  return keccak256(toRlp(fields)) === block.hash.toLowerCase();
}

/** RLP has quantities without leading zeros. */
function rlpQuantity(value: Hex): Hex {
  const digits = value.slice(2).replace(/^0+/, "");
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`;
}

/** Whether these are all of a block's receipts, as they are: proved by the root in its header. */
export function areReceiptsOf(block: RpcBlock, receipts: readonly RpcReceipt[]): boolean {
  return orderedTrieRoot(receipts.map(encodeReceipt)) === block.receiptsRoot.toLowerCase();
}

/** EIP-2718 and EIP-658; before Byzantium a state root stands in the place of the status. */
function encodeReceipt({ type = "0x0", ...receipt }: RpcReceipt): Hex {
  const outcome =
    receipt.status === undefined ? (receipt.root ?? "0x") : rlpQuantity(receipt.status);
  const logs = receipt.logs.map(({ address, topics, data }) => [address, topics, data]);
  const list = [outcome, rlpQuantity(receipt.cumulativeGasUsed), receipt.logsBloom, logs];
  const encoded = toRlp(list as never);
  const typeByte = Number(type);
  return typeByte === 0
    ? encoded
    : `0x${typeByte.toString(16).padStart(2, "0")}${encoded.slice(2)}`;
}

const bloomBytes = 256;

/** The 2,048-bit filter of logs' addresses and topics, as a header has it (yellow paper, 4.3.1). */
export function bloomOf(logs: readonly Pick<RpcLog, "address" | "topics">[]): Hex {
  const bloom = Buffer.alloc(bloomBytes);
  const values = new Set(logs.flatMap(({ address, topics }) => [address, ...topics]));
  for (const value of values) {
    for (const bit of bitsOf(value)) bloom[bit >> 3] = (bloom[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return `0x${bloom.toString("hex")}`;
}

const rememberedBits = 20_000;
const bitsByValue = new Map<string, readonly number[]>();

/** The three bits of a value, from the filter's first byte on, the lowest bit of a byte first. */
function bitsOf(value: Hex): readonly number[] {
  const key = value.toLowerCase();
  const known = bitsByValue.get(key);
  if (known !== undefined) return known;
  const hash = keccak256(hexToBytes(value), "bytes");
  const bits = [0, 2, 4].map((start) => {
    const bit = (((hash[start] ?? 0) << 8) | (hash[start + 1] ?? 0)) & 2047;
    return ((bloomBytes - 1 - (bit >> 3)) << 3) | (bit & 7);
  });
  if (bitsByValue.size >= rememberedBits) bitsByValue.clear();
  bitsByValue.set(key, bits);
  return bits;
}

/** Of each topic one value, several, or any; of addresses too. */
export type LogsFilter = {
  readonly address?: Hex | readonly Hex[] | undefined;
  readonly topics?: readonly (Hex | readonly Hex[] | null)[] | undefined;
};

function valuesOf(value: Hex | readonly Hex[] | null | undefined): readonly Hex[] {
  if (value === null || value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

/** Whether a block may have logs of a filter. False is certain. */
export function mayHoldLogs(logsBloom: Hex, { address, topics = [] }: LogsFilter): boolean {
  const bloom = Buffer.from(logsBloom.slice(2), "hex");
  const holds = (value: Hex) =>
    bitsOf(value).every((bit) => ((bloom[bit >> 3] ?? 0) >> (bit & 7)) & 1);
  return [address, ...topics].every((wanted) => {
    const values = valuesOf(wanted);
    return values.length === 0 || values.some(holds);
  });
}

/** Whether a log is one that a filter asks for: an empty list of values is any, as for nodes. */
export function isLogOf({ address, topics = [] }: LogsFilter, log: RpcLog): boolean {
  return [address, ...topics].every((wanted, nth) => {
    const values = valuesOf(wanted);
    const value = nth === 0 ? log.address : log.topics[nth - 1];
    if (wanted === null || wanted === undefined) return true;
    if (value === undefined) return false;
    return values.length === 0 || values.some((one) => one.toLowerCase() === value.toLowerCase());
  });
}
