import type { Hex } from "viem";
import { parseEnsName } from "#projections/domain/ens-name.ts";
import { isRejection } from "#projections/domain/rejection.ts";

/** What a text may mean, all of it at once. */
export type SearchTerms = {
  text: string;
  /** Of a transaction, an order or a sale; also at the end of an order's id. */
  hash: Hex | null;
  address: Hex | null;
  /** First and last address, 20 bytes, that begin with the text. */
  addresses: readonly [Hex, Hex] | null;
  /** `<address> <id>`, `<name> #<id>`: a collection and the id of a token. */
  token: { of: string; tokenId: bigint } | null;
  ensName: string | null;
};

const maxUint256 = 2n ** 256n - 1n;

export function parseSearch(q: string): SearchTerms {
  const text = q.trim();
  return {
    text,
    hash: lowerHex(/(?:^|-)(0x[0-9a-f]{64})$/i.exec(text)?.[1]),
    address: lowerHex(/^0x[0-9a-f]{40}$/i.exec(text)?.[0]),
    addresses: parseAddresses(text),
    token: parseToken(text),
    ensName: parseName(text),
  };
}

/** At least two bytes. */
export function parseAddresses(text: string): readonly [Hex, Hex] | null {
  const digits = /^0x([0-9a-f]{4,40})$/i.exec(text)?.[1]?.toLowerCase();
  if (digits === undefined) return null;
  return [`0x${digits.padEnd(40, "0")}`, `0x${digits.padEnd(40, "f")}`];
}

function parseToken(text: string): SearchTerms["token"] {
  const [, of, digits] = /^(.{1,100}?)[\s/:#]+(\d{1,78})$/.exec(text) ?? [];
  if (of === undefined || digits === undefined) return null;
  const tokenId = BigInt(digits);
  return tokenId > maxUint256 ? null : { of, tokenId };
}

function parseName(text: string): string | null {
  if (!/^[^\s.][^\s]*\.[^\s.]+$/.test(text)) return null;
  const parsed = parseEnsName(text);
  return isRejection(parsed) ? null : parsed.name;
}

function lowerHex(text: string | undefined): Hex | null {
  return text === undefined ? null : (text.toLowerCase() as Hex);
}
