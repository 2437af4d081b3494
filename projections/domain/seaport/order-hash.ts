import { concatBytes, domainSeparator, type Hex, hexToBytes, keccak256, numberToBytes, stringToBytes, toHex } from "viem";
import { seaport } from "#abis/deployments.ts";
import { type OrderComponents, orderTypes } from "./order-components.ts";

export type ExchangeVersion = keyof typeof seaport;

/** EIP-712 domain of an exchange deployment. */
export function exchangeDomain(chainId: number, version: ExchangeVersion = "1.6") {
  return { name: "Seaport", version, chainId, verifyingContract: seaport[version] } as const;
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
