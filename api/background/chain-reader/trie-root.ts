import { type Hex, keccak256, toRlp } from "viem";

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
