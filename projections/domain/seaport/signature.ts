import {
  type Address,
  concatHex,
  type Hex,
  hexToBigInt,
  hexToNumber,
  numberToHex,
  recoverAddress,
  size,
  slice,
  zeroAddress,
} from "viem";
import { type IntakeCode, rejectField } from "../intake-codes.ts";
import type { Rejection } from "../rejection.ts";
import type { OrderComponents } from "./order-components.ts";
import { bulkOrderHash, exchangeDomain, hashPair, signingDigest } from "./order-hash.ts";

type Signed = { components: OrderComponents; orderHash: Hex; signature: Hex };

/**
 * Either the maker's key signed, or only a contract could accept the signature: then the exchange calls
 * the maker with `digest` and the whole signature (EIP-1271), whatever the signature's length, and
 * `rejection` applies when the maker has no code.
 */
export type SignatureCheck =
  | { signedBy: "maker"; digest: Hex }
  | { signedBy: "unverified"; digest: Hex; rejection: Rejection<IntakeCode> };

/**
 * Whether the exchange treats a signature of this length as that of a bulk order: 64 or 65 bytes,
 * 3 of index, 32 for each of 1 to 24 levels. Seaport `_isValidBulkOrderSize`.
 */
export function isBulkSignature(signature: Hex): boolean {
  const length = size(signature);
  return length > 98 && length < 837 && (length - 67) % 32 < 2;
}

/** Recovers the signer of a 65-byte signature with `v` 27 or 28; throws or returns null if invalid. */
export type Recover = (signed: { hash: Hex; signature: Hex }) => Promise<Address | null>;

/** Verifies like Seaport 1.6 (`_verifySignature`), but rejects an index outside of the tree. */
export async function verifySignature(
  order: Signed,
  chainId: number,
  recover: Recover = recoverAddress,
): Promise<SignatureCheck> {
  const { offerer } = order.components;
  const domain = exchangeDomain(chainId);
  const digest = signingDigest(order.orderHash, domain);
  const form = signatureForm(order);
  if ("rejected" in form) return { signedBy: "unverified", digest, rejection: form };
  const { structHash, base } = form;
  const signed = structHash === order.orderHash ? digest : signingDigest(structHash, domain);
  const signer = await recoverCached(signed, base, recover);
  if (signer === offerer.toLowerCase() && signer !== zeroAddress)
    return { signedBy: "maker", digest };
  const actual = signer ?? "no address";
  const message = `the signature must recover to the offerer ${offerer}, and recovers to ${actual}; expected are a signature for chain ${chainId}, the exchange ${domain.verifyingContract} and the components with their counter`;
  const rejection = refuse("bad_signature", offerer, actual, message);
  return { signedBy: "unverified", digest, rejection };
}

/** `counter_stale` orders can never become valid: counters only grow. */
export function validateCounter(
  { components }: { components: OrderComponents },
  chainCounter: bigint,
): Rejection<IntakeCode> | null {
  const { counter } = components;
  if (counter === chainCounter) return null;
  const code = counter < chainCounter ? "counter_stale" : "counter_ahead";
  return rejectField(code, {
    field: "parameters.counter",
    expected: `${chainCounter}`,
    actual: `${counter}`,
    message: `counter must be the offerer's current one, ${chainCounter}, and is ${counter}`,
  });
}

type SignatureForm = {
  /** 64 or 65 bytes. */
  base: Hex;
  /** Of what the base signs: the order, or the bulk order that contains it. */
  structHash: Hex;
};

function signatureForm({ orderHash, signature }: Signed): SignatureForm | Rejection<IntakeCode> {
  const length = size(signature);
  if (length === 0) {
    const message = "the order is not signed";
    return refuse("missing_signature", "64 or 65 bytes", "0 bytes", message);
  }
  if (length === 64 || length === 65) return { base: signature, structHash: orderHash };
  if (isBulkSignature(signature)) return bulkForm(orderHash, signature);
  const expected = "64 or 65 bytes, or these with 3 bytes of index and 1 to 24 proof words";
  const message = `the signature has ${length} bytes; expected are ${expected}`;
  return refuse("bad_signature_length", expected, `${length} bytes`, message);
}

/** An even length has a base of 65 bytes, an odd one of 64. */
function bulkForm(orderHash: Hex, signature: Hex): SignatureForm | Rejection<IntakeCode> {
  const baseLength = size(signature) % 2 === 0 ? 65 : 64;
  const height = (size(signature) - baseLength - 3) / 32;
  const index = hexToNumber(slice(signature, baseLength, baseLength + 3));
  // The exchange ignores the higher bits: the order would have several valid signatures.
  if (index >= 2 ** height) {
    const message = `a bulk order of height ${height} has no leaf ${index}; the last is ${2 ** height - 1}`;
    return refuse("bad_bulk_proof", `index below ${2 ** height}`, `${index}`, message);
  }
  let node = orderHash;
  for (let depth = 0; depth < height; depth++) {
    const start = baseLength + 3 + 32 * depth;
    const sibling = slice(signature, start, start + 32);
    node = (index >> depth) % 2 === 0 ? hashPair(node, sibling) : hashPair(sibling, node);
  }
  return { base: slice(signature, 0, baseLength), structHash: bulkOrderHash(node, height) };
}

/** Orders signed together share digest and base; recovery is the expensive part. */
const signerCache = new Map<string, Promise<Address | null>>();
const maxCachedSigners = 256;

function recoverCached(hash: Hex, base: Hex, recover: Recover): Promise<Address | null> {
  const key = hash + base;
  const known = signerCache.get(key);
  if (known !== undefined) return known;
  const [oldest] = signerCache.keys();
  if (oldest !== undefined && signerCache.size >= maxCachedSigners) signerCache.delete(oldest);
  const signer = recoverSigner(hash, base, recover);
  signerCache.set(key, signer);
  return signer;
}

/** Lower case; null where the precompile `ecrecover` fails, including any `v` other than 27 and 28. */
async function recoverSigner(hash: Hex, base: Hex, recover: Recover): Promise<Address | null> {
  const signature = size(base) === 64 ? expandCompact(base) : base;
  const v = hexToNumber(slice(signature, 64));
  if (v !== 27 && v !== 28) return null;
  try {
    return ((await recover({ hash, signature }))?.toLowerCase() as Address | undefined) ?? null;
  } catch {
    // `r` is not on the curve, or `r` or `s` is out of range.
    return null;
  }
}

/** EIP-2098: the highest bit of `s` holds the parity. */
function expandCompact(base: Hex): Hex {
  const parityAndS = hexToBigInt(slice(base, 32));
  const s = numberToHex(parityAndS & ((1n << 255n) - 1n), { size: 32 });
  return concatHex([slice(base, 0, 32), s, parityAndS >> 255n === 0n ? "0x1b" : "0x1c"]);
}

function refuse(code: IntakeCode, expected: string, actual: string, message: string) {
  return rejectField(code, { field: "signature", expected, actual, message });
}
