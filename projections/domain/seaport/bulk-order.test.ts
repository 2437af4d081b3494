import { type Hex, hashTypedData, zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import { draftListingComponents } from "./draft-components.ts";
import { type OrderComponents, orderTypes } from "./order-components.ts";
import {
  bulkOrderHash,
  bulkOrderTree,
  bulkSignature,
  exchangeDomain,
  hashPair,
  orderHash,
  signingDigest,
} from "./order-hash.ts";

const orders = (count: number) =>
  Array.from({ length: count }, (_, index) => listing(BigInt(index)));

/** Nests orders as EIP-712 sees them, `OrderComponents[2]…[2]`, the gaps filled with empty orders. */
function nest(leaves: OrderComponents[], height: number): unknown {
  const padded: unknown[] = Array.from(
    { length: 2 ** height },
    (_, index) => leaves[index] ?? empty,
  );
  let level = padded;
  while (level.length > 2) {
    level = level.flatMap((node, index) => (index % 2 === 0 ? [[node, level[index + 1]]] : []));
  }
  return level;
}

describe("bulkOrderTree", () => {
  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [5, 3],
    [9, 4],
  ])("of %i orders has height %i and the digest of the nested typed data", (count, height) => {
    const domain = exchangeDomain(1);
    const tree = bulkOrderTree(orders(count).map(orderHash));

    expect(tree.height).toBe(height);
    expect(signingDigest(bulkOrderHash(tree.root, tree.height), domain)).toBe(
      hashTypedData<Record<string, unknown>, string>({
        domain,
        types: {
          ...orderTypes,
          BulkOrder: [{ name: "tree", type: `OrderComponents${"[2]".repeat(height)}` }],
        },
        primaryType: "BulkOrder",
        message: { tree: nest(orders(count), height) },
      }),
    );
  });

  it("proves every order of a hundred under the root", () => {
    const hashes = orders(100).map(orderHash);
    const { root, height, proofs } = bulkOrderTree(hashes);

    const roots = hashes.map((leaf, index) => climb(leaf, index, proofs[index] ?? []));

    expect(height).toBe(7);
    expect(new Set(roots)).toEqual(new Set([root]));
  });

  it("rejects an empty bulk order", () => {
    expect(() => bulkOrderTree([])).toThrow("1 to 2^24 orders, not 0");
  });
});

describe("bulkSignature", () => {
  it("is the base, three bytes of index and the siblings", () => {
    const signature = bulkSignature(`0x${"ab".repeat(64)}`, 258, [zeroHash, zeroHash]);

    expect(signature).toBe(`0x${"ab".repeat(64)}000102${"00".repeat(64)}`);
  });
});

function climb(leaf: Hex, index: number, proof: readonly Hex[]): Hex {
  return proof.reduce(
    (node, sibling, depth) =>
      (index >> depth) % 2 === 0 ? hashPair(node, sibling) : hashPair(sibling, node),
    leaf,
  );
}

function listing(tokenId: bigint): OrderComponents {
  return draftListingComponents({
    maker: "0x00000000000000000000000000000000000a11ce",
    startTime: 1_700_000_000n,
    endTime: 1_700_086_400n,
    salt: tokenId,
    counter: 0n,
    quantity: 1n,
    nft: { standard: "erc721", contract: "0x0000000000000000000000000000000000000721", tokenId },
    price: {
      unitPriceWei: 10n ** 18n,
      fee: { recipient: "0x000000000000000000000000000000000000fee0", bps: 100 },
      royalty: null,
    },
  });
}

const empty: OrderComponents = {
  offerer: zeroAddress,
  zone: zeroAddress,
  offer: [],
  consideration: [],
  orderType: 0,
  startTime: 0n,
  endTime: 0n,
  zoneHash: zeroHash,
  salt: 0n,
  conduitKey: zeroHash,
  counter: 0n,
};
