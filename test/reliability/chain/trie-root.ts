import { bytesToHex, type Hex, hexToBytes, keccak256, numberToHex, toRlp } from "viem";

/** A value, a hash of a node, or a short node itself. */
type Item = Hex | readonly Item[];
type Entry = { readonly key: readonly number[]; readonly value: Hex };

const emptyRoot = keccak256("0x80");

/** Root of the Merkle-Patricia trie of a list, with its indexes as keys: of a block's transactions or receipts. */
export function trieRoot(values: readonly Hex[]): Hex {
  if (values.length === 0) return emptyRoot;
  const entries = values.map((value, index) => ({ key: keyOf(index), value }));
  return keccak256(toRlp(nodeOf(entries, 0)));
}

/** An integer in RLP has no leading zeroes; zero is the empty string. */
export const integer = (value: number | bigint): Hex =>
  BigInt(value) === 0n ? "0x" : bytes(value);

function bytes(value: number | bigint): Hex {
  const digits = numberToHex(value).slice(2);
  return `0x${digits.length % 2 === 0 ? "" : "0"}${digits}`;
}

const keyOf = (index: number): number[] => nibblesOf(toRlp(integer(index)));

const nibblesOf = (hex: Hex): number[] =>
  [...hex.slice(2)].map((digit) => Number.parseInt(digit, 16));

/** The node of all entries, whose keys are equal before `depth`. */
function nodeOf(entries: readonly Entry[], depth: number): Item[] {
  const [first] = entries;
  if (first === undefined) throw new Error("a node of a trie has no entry");
  if (entries.length === 1) return [path(first.key.slice(depth), true), first.value];
  const shared = sharedLength(entries, depth);
  if (shared === 0) return branchOf(entries, depth);
  const child = branchOf(entries, depth + shared);
  return [path(first.key.slice(depth, depth + shared), false), referenceTo(child)];
}

function branchOf(entries: readonly Entry[], depth: number): Item[] {
  const children = Array.from({ length: 16 }, (_, nibble): Item => {
    const below = entries.filter(({ key }) => key[depth] === nibble);
    return below.length === 0 ? "0x" : referenceTo(nodeOf(below, depth + 1));
  });
  const end = entries.find(({ key }) => key.length === depth);
  return [...children, end?.value ?? "0x"];
}

/** A node shorter than a hash stands for itself. */
function referenceTo(node: Item[]): Item {
  const encoded = toRlp(node);
  return encoded.length < 2 + 2 * 32 ? node : keccak256(encoded);
}

function sharedLength(entries: readonly Entry[], depth: number): number {
  const first = entries[0]?.key ?? [];
  let length = 0;
  while (
    entries.every(
      ({ key }) => depth + length < key.length && key[depth + length] === first[depth + length],
    )
  ) {
    length += 1;
  }
  return length;
}

/** The rest of a key, packed, with a mark of leaves and of odd lengths. */
function path(nibbles: readonly number[], isLeaf: boolean): Hex {
  const mark = (isLeaf ? 2 : 0) + (nibbles.length % 2);
  const padded = nibbles.length % 2 === 0 ? [mark, 0, ...nibbles] : [mark, ...nibbles];
  return `0x${padded.map((nibble) => nibble.toString(16)).join("")}`;
}

const bitsOf = new Map<Hex, readonly number[]>();

/** The filter of addresses and topics of logs, as headers and receipts hold it. */
export function bloomOf(logs: readonly { address: Hex; topics: readonly Hex[] }[]): Hex {
  const filter = new Uint8Array(256);
  for (const { address, topics } of logs) {
    for (const value of [address, ...topics]) {
      for (const bit of filterBits(value)) {
        const place = 255 - (bit >> 3);
        filter[place] = (filter[place] ?? 0) | (1 << (bit & 7));
      }
    }
  }
  return bytesToHex(filter);
}

function filterBits(value: Hex): readonly number[] {
  const known = bitsOf.get(value);
  if (known !== undefined) return known;
  const hash = hexToBytes(keccak256(value));
  const bits = [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047);
  if (bitsOf.size < 100_000) bitsOf.set(value, bits);
  return bits;
}
