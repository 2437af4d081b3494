import {
  concatHex,
  type Hex,
  keccak256,
  numberToHex,
  stringToHex,
  zeroAddress,
  zeroHash,
} from "viem";
import { type OrderComponents, orderTypes } from "./order-components.ts";
import { orderHash } from "./order-hash.ts";

/** Highest tree the exchange accepts. Seaport `_assertValidSignature`, `BulkOrder_*` constants. */
const maxHeight = 24;

const emptyOrder: OrderComponents = {
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

const memberList = (type: keyof typeof orderTypes) =>
  `${type}(${orderTypes[type].map((member) => `${member.type} ${member.name}`).join(",")})`;

function bulkOrderTypeHash(height: number): Hex {
  const structs = [
    memberList("ConsiderationItem"),
    memberList("OfferItem"),
    memberList("OrderComponents"),
  ];
  return keccak256(
    stringToHex(`BulkOrder(OrderComponents${"[2]".repeat(height)} tree)${structs.join("")}`),
  );
}

/** Struct hash of `BulkOrder` over a tree of this height and root; an argument of `signingDigest`. */
export function bulkOrderHash(root: Hex, height: number): Hex {
  return keccak256(concatHex([bulkOrderTypeHash(height), root]));
}

export const hashPair = (left: Hex, right: Hex): Hex => keccak256(concatHex([left, right]));

/** Merkle root of orders signed together, and each order's siblings from leaf to root. */
export function bulkOrderTree(orderHashes: readonly Hex[]): {
  root: Hex;
  height: number;
  proofs: readonly (readonly Hex[])[];
} {
  const height = Math.max(1, Math.ceil(Math.log2(orderHashes.length)));
  if (orderHashes.length === 0 || height > maxHeight) {
    throw new RangeError(
      `A bulk order holds 1 to 2^${maxHeight} orders, not ${orderHashes.length}`,
    );
  }
  const proofs: Hex[][] = orderHashes.map(() => []);
  let level: readonly Hex[] = orderHashes;
  let filler = orderHash(emptyOrder);
  for (let depth = 0; depth < height; depth++) {
    for (const [index, proof] of proofs.entries())
      proof.push(level[(index >> depth) ^ 1] ?? filler);
    level = pairUp(level, filler);
    filler = hashPair(filler, filler);
  }
  return { root: level[0] ?? filler, height, proofs };
}

function pairUp(level: readonly Hex[], filler: Hex): Hex[] {
  return level.flatMap((node, index) =>
    index % 2 === 0 ? [hashPair(node, level[index + 1] ?? filler)] : [],
  );
}

/** Signature of one order out of a bulk order: base (65 or 64 bytes), 3-byte index, siblings. */
export function bulkSignature(base: Hex, index: number, proof: readonly Hex[]): Hex {
  return concatHex([base, numberToHex(index, { size: 3 }), ...proof]);
}
