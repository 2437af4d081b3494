import { concatHex, type Hex, keccak256, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { criteriaProof, criteriaRoot } from "./criteria.ts";

/** Seaport's `_verifyProof`: the smaller of node and sibling is hashed first. */
const climb = (tokenId: bigint, proof: readonly Hex[]) =>
  proof.reduce(
    (node, sibling) => keccak256(concatHex(node < sibling ? [node, sibling] : [sibling, node])),
    keccak256(numberToHex(tokenId, { size: 32 })),
  );

describe("criteriaProof", () => {
  it.each([1, 2, 3, 7, 8, 33])("proves each of %i ids under their root", (count) => {
    const tokenIds = Array.from({ length: count }, (_, index) => BigInt(index * 5));

    const roots = tokenIds.map((id) => BigInt(climb(id, criteriaProof(tokenIds, id))));

    expect(new Set(roots)).toEqual(new Set([criteriaRoot(tokenIds)]));
  });

  it("does not prove an id outside the set", () => {
    expect(() => criteriaProof([1n, 2n], 3n)).toThrow("Token 3 is not under these criteria");
  });
});
