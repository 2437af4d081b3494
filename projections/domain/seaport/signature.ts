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
import type { IntakeCode } from "../orders/intake-codes.ts";
import { refuseField } from "../orders/refuse-field.ts";
import type { Rejection } from "../rejection.ts";
import { bulkOrderHash, hashPair } from "./bulk-order.ts";
import type { OrderComponents } from "./order-components.ts";
import { exchangeDomain, signingDigest } from "./order-hash.ts";

type Signed = { components: OrderComponents; orderHash: Hex; signature: Hex };

/**
 * Either the maker's key signed, or only a contract could still take the signature for its own: then
 * `digest` and the whole signature are what the exchange asks it (EIP-1271), whatever the
 * signature's length, and `otherwise` answers when the maker has no code.
 */
export type SignatureVerdict =
  | { signedBy: "maker"; digest: Hex }
  | { signedBy: "contract?"; digest: Hex; otherwise: Rejection<IntakeCode> };

/**
 * Whether the exchange reads a signature of this length as one out of a bulk order: 64 or 65 bytes,
 * 3 of index, 32 for each of 1 to 24 levels. Seaport `_isValidBulkOrderSize`.
 */
export function isBulkSignature(signature: Hex): boolean {
  const length = size(signature);
  return length > 98 && length < 837 && (length - 67) % 32 < 2;
}

/** Whose key made a signature of 65 bytes, `v` 27 or 28; throws, or gives null, where it is nobody's. */
export type Recover = (signed: { hash: Hex; signature: Hex }) => Promise<Address | null>;

/** Verifies as Seaport 1.6 does (`_verifySignature`), but for an index that is no leaf of its tree. */
export async function judgeSignature(
  order: Signed,
  chainId: number,
  recover: Recover = recoverAddress,
): Promise<SignatureVerdict> {
  const { offerer } = order.components;
  const domain = exchangeDomain(chainId);
  const digest = signingDigest(order.orderHash, domain);
  const form = signatureForm(order);
  if ("rejected" in form) return { signedBy: "contract?", digest, otherwise: form };
  const { structHash, base } = form;
  const signed = structHash === order.orderHash ? digest : signingDigest(structHash, domain);
  const signer = await recoverOnce(signed, base, recover);
  if (signer === offerer.toLowerCase() && signer !== zeroAddress)
    return { signedBy: "maker", digest };
  const actual = signer ?? "no address";
  const message = `the signature must recover to the offerer ${offerer}, and recovers to ${actual}; signed were the chain ${chainId}, the exchange ${domain.verifyingContract} and the components with their counter`;
  const otherwise = refuse("bad_signature", offerer, actual, message);
  return { signedBy: "contract?", digest, otherwise };
}

/** `counter_stale` orders are dead for ever: counters only grow. */
export function judgeCounter(
  { components }: { components: OrderComponents },
  chainCounter: bigint,
): Rejection<IntakeCode> | null {
  const { counter } = components;
  if (counter === chainCounter) return null;
  const code = counter < chainCounter ? "counter_stale" : "counter_ahead";
  return refuseField(code, {
    field: "parameters.counter",
    expected: `${chainCounter}`,
    actual: `${counter}`,
    because: `counter must be the offerer's present one, ${chainCounter}, and is ${counter}`,
  });
}

type SignatureForm = {
  /** 64 or 65 bytes. */
  base: Hex;
  /** What the base stands for: the order, or the bulk order it is in. */
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
  // The exchange would heed the low bits alone, and one order would have several signatures.
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

/** Orders signed at once have one digest and one base, and to recover is what costs. */
const recovered = new Map<string, Promise<Address | null>>();
const recoveredAtMost = 256;

function recoverOnce(hash: Hex, base: Hex, recover: Recover): Promise<Address | null> {
  const key = hash + base;
  const known = recovered.get(key);
  if (known !== undefined) return known;
  const [oldest] = recovered.keys();
  if (oldest !== undefined && recovered.size >= recoveredAtMost) recovered.delete(oldest);
  const signer = recoverSigner(hash, base, recover);
  recovered.set(key, signer);
  return signer;
}

/** Lower case; null where the precompile `ecrecover` finds nobody, a `v` besides 27 and 28 included. */
async function recoverSigner(hash: Hex, base: Hex, recover: Recover): Promise<Address | null> {
  const signature = size(base) === 64 ? expandCompact(base) : base;
  const v = hexToNumber(slice(signature, 64));
  if (v !== 27 && v !== 28) return null;
  try {
    return ((await recover({ hash, signature }))?.toLowerCase() as Address | undefined) ?? null;
  } catch {
    // No point of the curve has this `r`, or `r` or `s` is out of range.
    return null;
  }
}

/** EIP-2098: the highest bit of `s` holds the parity. */
function expandCompact(base: Hex): Hex {
  const parityAndS = hexToBigInt(slice(base, 32));
  const s = numberToHex(parityAndS & ((1n << 255n) - 1n), { size: 32 });
  return concatHex([slice(base, 0, 32), s, parityAndS >> 255n === 0n ? "0x1b" : "0x1c"]);
}

function refuse(code: IntakeCode, expected: string, actual: string, because: string) {
  return refuseField(code, { field: "signature", expected, actual, because });
}
