import { createKeccak } from "hash-wasm";
import type { Hex } from "viem";

/** Token ids that an order by criteria may name at most. */
export const maxCriteriaTokens = 10_000;

/**
 * The Merkle tree of the token ids that an order accepts: leaves keccak256(uint256 id), each pair hashed in ascending
 * order, a node without a neighbour carried up. Seaport `CriteriaResolution._verifyProof`; OpenSea's seaport-js makes the same.
 */
export type CriteriaTree = {
  readonly root: Hex;
  /** The siblings that prove an id under the root; null: it is not among the ids. */
  proofOf(tokenId: bigint): readonly Hex[] | null;
};

/** Of distinct ids, in any order. Ten thousand take some 20,000 hashes. Throws without ids. */
export function criteriaTree(tokenIds: readonly bigint[]): CriteriaTree {
  const leaves = sortedLeaves(tokenIds);
  const tree = [leaves];
  for (let level = leaves; level.length > 1; level = tree.at(-1) ?? []) tree.push(pairUp(level));
  const root = tree.at(-1)?.[0];
  if (root === undefined) throw new RangeError("Criteria need at least one token id");
  return {
    root: `0x${root}`,
    proofOf(tokenId) {
      const place = leaves.indexOf(leafOf(tokenId));
      if (place < 0) return null;
      return tree.flatMap((level, depth) => {
        const sibling = level[(place >> depth) ^ 1];
        return sibling === undefined ? [] : [`0x${sibling}` as const];
      });
    },
  };
}

/** Seaport's criteria of the ids, as an integer. */
export const criteriaRoot = (tokenIds: readonly bigint[]): bigint =>
  BigInt(criteriaTree(tokenIds).root);

/** The siblings that prove `tokenId` under `criteriaRoot(tokenIds)`. */
export function criteriaProof(tokenIds: readonly bigint[], tokenId: bigint): readonly Hex[] {
  const proof = criteriaTree(tokenIds).proofOf(tokenId);
  if (proof === null) throw new RangeError(`Token ${tokenId} is not under these criteria`);
  return proof;
}

/** In WebAssembly: viem's, in JavaScript, holds the process up for a quarter of a second by a tree of ten thousand ids. */
const keccak = await createKeccak(256);

/** Hexadecimal digits without prefix: text sorts as bytes do, and trees that are kept cost the garbage collector less so. */
const keccakOf = (digits: string): string =>
  keccak.init().update(Buffer.from(digits, "hex")).digest();

const leafOf = (tokenId: bigint): string => keccakOf(tokenId.toString(16).padStart(64, "0"));

function sortedLeaves(tokenIds: readonly bigint[]): string[] {
  const leaves = tokenIds.map(leafOf).sort();
  return leaves.filter((leaf, place) => leaf !== leaves[place - 1]);
}

function pairUp(level: readonly string[]): string[] {
  const pairs: string[] = [];
  for (let place = 0; place < level.length; place += 2) {
    const [node, sibling] = [level[place], level[place + 1]];
    if (node === undefined) break;
    pairs.push(sibling === undefined ? node : hashPair(node, sibling));
  }
  return pairs;
}

const hashPair = (one: string, other: string): string =>
  keccakOf(one <= other ? one + other : other + one);
