import { type Hex, hexToBytes, keccak256, toRlp } from "viem";

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

export function filterValues(value: Hex | readonly Hex[] | null | undefined): readonly Hex[] {
  if (value === null || value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

/** Whether a block may have logs of a filter. False is certain. */
export function mayHoldLogs(logsBloom: Hex, { address, topics = [] }: LogsFilter): boolean {
  const bloom = Buffer.from(logsBloom.slice(2), "hex");
  const holds = (value: Hex) =>
    bitsOf(value).every((bit) => ((bloom[bit >> 3] ?? 0) >> (bit & 7)) & 1);
  return [address, ...topics].every((wanted) => {
    const values = filterValues(wanted);
    return values.length === 0 || values.some(holds);
  });
}

/** Whether a log is one that a filter asks for: of no value, or none of a list, any will do, and there must be one. */
export function isLogOf({ address, topics = [] }: LogsFilter, log: RpcLog): boolean {
  return [address, ...topics].every((wanted, nth) => {
    const values = filterValues(wanted);
    const value = nth === 0 ? log.address : log.topics[nth - 1];
    if (value === undefined) return false;
    return values.length === 0 || values.some((one) => one.toLowerCase() === value.toLowerCase());
  });
}

/** A node of the trie: its RLP list, or the reference to it. */
type TrieNode = readonly (Hex | TrieNode)[];
type Entry = { path: readonly number[]; value: Hex };

const emptyRoot = keccak256("0x80");

/**
 * Root of the Merkle-Patricia trie of a list, by the RLP of each index: what a header commits to as `transactionsRoot` and
 * `receiptsRoot` (Ethereum yellow paper, 4.3.2 and appendix D).
 */
export function orderedTrieRoot(values: readonly Hex[]): Hex {
  if (values.length === 0) return emptyRoot;
  const entries = values.map((value, index) => ({ path: nibblesOf(rlpOfIndex(index)), value }));
  return keccak256(toRlp(nodeOf(entries, 0) as never));
}

const rlpOfIndex = (index: number): Hex =>
  toRlp(index === 0 ? "0x" : `0x${evenHex(index.toString(16))}`);

const evenHex = (digits: string): string => (digits.length % 2 === 0 ? digits : `0${digits}`);

const nibblesOf = (hex: Hex): number[] =>
  [...hex.slice(2)].map((digit) => Number.parseInt(digit, 16));

/** The node of entries that share their path's first `depth` nibbles. */
function nodeOf(entries: readonly Entry[], depth: number): TrieNode {
  const [first] = entries;
  if (first === undefined) throw new Error("a trie node has no entries");
  if (entries.length === 1) return [compact(first.path.slice(depth), true), first.value];
  const shared = sharedPrefix(entries, depth);
  if (shared > depth) {
    return [compact(first.path.slice(depth, shared), false), referenceTo(nodeOf(entries, shared))];
  }
  const children = Array.from({ length: 16 }, (_, nibble) => {
    const below = entries.filter(({ path }) => path[depth] === nibble);
    return below.length === 0 ? "0x" : referenceTo(nodeOf(below, depth + 1));
  });
  const ended = entries.find(({ path }) => path.length === depth);
  return [...children, ended?.value ?? "0x"];
}

function sharedPrefix(entries: readonly Entry[], depth: number): number {
  const [first, ...others] = entries;
  let shared = depth;
  while (
    shared < (first?.path.length ?? 0) &&
    others.every(({ path }) => path[shared] === first?.path[shared])
  ) {
    shared += 1;
  }
  return shared;
}

/** A node of less than 32 bytes stands in its parent. */
function referenceTo(node: TrieNode): Hex | TrieNode {
  const rlp = toRlp(node as never);
  return rlp.length < 2 + 64 ? node : keccak256(rlp);
}

/** Hex-prefix encoding of a path (appendix C). */
function compact(path: readonly number[], isLeaf: boolean): Hex {
  const isOdd = path.length % 2 === 1;
  const flag = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0);
  const nibbles = isOdd ? [flag, ...path] : [flag, 0, ...path];
  return `0x${nibbles.map((nibble) => nibble.toString(16)).join("")}`;
}
