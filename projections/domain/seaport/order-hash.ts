import {
  concatBytes,
  concatHex,
  domainSeparator,
  type Hex,
  hexToBytes,
  keccak256,
  numberToBytes,
  numberToHex,
  stringToBytes,
  stringToHex,
  toHex,
  zeroAddress,
  zeroHash,
} from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { type OrderComponents, orderTypes } from "./order-components.ts";

export type ExchangeVersion = keyof typeof seaportAddresses;

/** EIP-712 domain of an exchange deployment. */
export function exchangeDomain(chainId: number, version: ExchangeVersion = "1.6") {
  return {
    name: "Seaport",
    version,
    chainId,
    verifyingContract: seaportAddresses[version],
  } as const;
}

type Struct = keyof typeof orderTypes;
type Bytes = Uint8Array;

const hash = (bytes: Bytes): Bytes => keccak256(bytes, "bytes");

const signatureOf = (struct: Struct): string =>
  `${struct}(${orderTypes[struct].map(({ type, name }) => `${type} ${name}`).join(",")})`;

/** EIP-712 `typeHash`, with the referenced types in the order of their names. */
const typeHashOf = (struct: Struct, ...referred: Struct[]): Bytes =>
  hash(stringToBytes([struct, ...referred].map(signatureOf).join("")));

const typeHash = {
  OfferItem: typeHashOf("OfferItem"),
  ConsiderationItem: typeHashOf("ConsiderationItem"),
  OrderComponents: typeHashOf("OrderComponents", "ConsiderationItem", "OfferItem"),
} as const;

/**
 * The order hash, equal to the exchange's `getOrderHash`; chain and version are not part of it. Equal to viem's
 * `hashStruct`, but with the type hashes computed once: they were most of the cost of an order.
 */
export function orderHash(components: OrderComponents): Hex {
  return toHex(hashMembers("OrderComponents", components));
}

function hashMembers<Name extends Struct>(
  struct: Name,
  values: { readonly [name: string]: unknown },
): Bytes {
  const words = orderTypes[struct].map(({ name, type }) => encodeMember(type, values[name]));
  return hash(concatBytes([typeHash[struct], ...words]));
}

function encodeMember(type: string, value: unknown): Bytes {
  if (type === "OfferItem[]" || type === "ConsiderationItem[]") {
    const struct = type === "OfferItem[]" ? "OfferItem" : "ConsiderationItem";
    return hash(
      concatBytes((value as Record<string, unknown>[]).map((one) => hashMembers(struct, one))),
    );
  }
  if (!type.startsWith("uint")) return word(hexToBytes(value as Hex));
  return numberToBytes(BigInt(value as bigint | number | string), { size: 32 });
}

/** The bytes, left-padded to 32. */
function word(bytes: Bytes): Bytes {
  if (bytes.length === 32) return bytes;
  const padded = new Uint8Array(32);
  padded.set(bytes, 32 - bytes.length);
  return padded;
}

const separators = new Map<string, Bytes>();

function separatorOf(domain: ReturnType<typeof exchangeDomain>): Bytes {
  const key = `${domain.chainId} ${domain.version}`;
  const known = separators.get(key) ?? hexToBytes(domainSeparator({ domain }));
  separators.set(key, known);
  return known;
}

/** EIP-712 digest to sign, of the struct hash of an order or of a bulk order. */
export function signingDigest(structHash: Hex, domain: ReturnType<typeof exchangeDomain>): Hex {
  return keccak256(
    concatBytes([new Uint8Array([0x19, 0x01]), separatorOf(domain), hexToBytes(structHash)]),
  );
}

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
