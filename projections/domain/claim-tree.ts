import { setImmediate as nextTurn } from "node:timers/promises";
import { createKeccak } from "hash-wasm";
import type { Hex } from "viem";

/** An address and what it may claim. */
export type Claim = { readonly owner: Hex; readonly units: bigint };

/** How a leaf is made: keccak256 of keccak256 of the ABI's words of these. */
export const leafEncoding = ["address", "uint256"] as const;

/**
 * A Merkle tree of claims as OpenZeppelin's `StandardMerkleTree.of(claims, leafEncoding)` makes it, and its `MerkleProof`
 * verifies: leaves in the order of their hashes from the end, node `i` the hash of `2i + 1` and `2i + 2`, the lower first.
 */
export type ClaimTree = {
  /** Nodes of 32 bytes each, the root first. */
  readonly nodes: Buffer;
  /** The node of each claim, in the order of the claims. */
  readonly leaves: readonly number[];
};

const word = 32;
/** Hashes after which others have their turn: some milliseconds. */
const slice = 2_000;

/** In WebAssembly; the package that makes the same tree takes many times as long, and all of it in one turn. */
const keccak = await createKeccak(256);

const hash = (bytes: Buffer): Buffer => Buffer.from(keccak.init().update(bytes).digest("binary"));

/** Of distinct claims, in any order. Throws without claims. */
export async function claimTree(claims: readonly Claim[]): Promise<ClaimTree> {
  if (claims.length === 0) throw new RangeError("A tree needs at least one claim");
  const hashed: { hash: Buffer; place: number }[] = [];
  for (const [place, claim] of claims.entries()) {
    hashed.push({ hash: leafOf(claim), place });
    if (place % slice === 0) await nextTurn();
  }
  hashed.sort((one, other) => Buffer.compare(one.hash, other.hash));
  const nodes = Buffer.alloc((2 * claims.length - 1) * word);
  const leaves: number[] = Array.from({ length: claims.length });
  const last = 2 * claims.length - 2;
  for (const [rank, { hash, place }] of hashed.entries()) {
    hash.copy(nodes, (last - rank) * word);
    leaves[place] = last - rank;
  }
  for (let node = claims.length - 2; node >= 0; node -= 1) {
    hashPair(nodeOf(nodes, 2 * node + 1), nodeOf(nodes, 2 * node + 2)).copy(nodes, node * word);
    if (node % slice === 0) await nextTurn();
  }
  return { nodes, leaves };
}

/** The nodes that prove a leaf, from its sibling up. */
export function proofNodes(leaf: number): number[] {
  const nodes: number[] = [];
  for (let node = leaf; node > 0; node = (node - 1) >> 1)
    nodes.push(node % 2 === 0 ? node - 1 : node + 1);
  return nodes;
}

const nodeOf = (nodes: Buffer, node: number) => nodes.subarray(node * word, (node + 1) * word);

function leafOf({ owner, units }: Claim): Buffer {
  const digits = owner.slice(2).padStart(64, "0") + units.toString(16).padStart(64, "0");
  return hash(hash(Buffer.from(digits, "hex")));
}

const hashPair = (one: Buffer, other: Buffer): Buffer =>
  hash(Buffer.concat(Buffer.compare(one, other) <= 0 ? [one, other] : [other, one]));
