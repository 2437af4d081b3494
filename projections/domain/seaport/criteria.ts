import { concatHex, type Hex, keccak256, numberToHex } from "viem";

/**
 * Token ids a bid accepts, as Seaport's criteria: leaves keccak256(uint256 id), each pair hashed in
 * ascending order, a node without a neighbour carried up. Seaport `CriteriaResolution._verifyProof`.
 */
export function criteriaRoot(tokenIds: readonly bigint[]): bigint {
  const [root] = levels(tokenIds).at(-1) ?? [];
  if (root === undefined) throw new RangeError("Criteria need at least one token id");
  return BigInt(root);
}

/** The siblings that prove `tokenId` under `criteriaRoot(tokenIds)`. */
export function criteriaProof(tokenIds: readonly bigint[], tokenId: bigint): readonly Hex[] {
  const tree = levels(tokenIds);
  const position = tree[0]?.indexOf(leafOf(tokenId)) ?? -1;
  if (position < 0) throw new RangeError(`Token ${tokenId} is not under these criteria`);
  return tree.flatMap((level, depth) => level[(position >> depth) ^ 1] ?? []);
}

const leafOf = (tokenId: bigint) => keccak256(numberToHex(tokenId, { size: 32 }));

/** All levels of the tree, leaves first, the root alone in the last one. */
function levels(tokenIds: readonly bigint[]): readonly (readonly Hex[])[] {
  const tree: Hex[][] = [[...new Set(tokenIds.map(leafOf))].sort()];
  for (let level = tree[0] ?? []; level.length > 1; level = tree.at(-1) ?? [])
    tree.push(pairUp(level));
  return tree;
}

function pairUp(level: readonly Hex[]): Hex[] {
  return level.flatMap((node, index) => {
    if (index % 2 === 1) return [];
    const sibling = level[index + 1];
    return sibling === undefined ? [node] : [keccak256(concatHex([node, sibling].sort()))];
  });
}
