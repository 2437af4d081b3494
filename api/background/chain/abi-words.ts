import { type Address, type Hex, numberToHex, zeroAddress } from "viem";

const wordDigits = 64;

/** One of the 32-byte words of returned data; undefined if there are fewer. */
export function wordAt(returned: Hex, index: number): bigint | undefined {
  const start = 2 + index * wordDigits;
  const digits = returned.slice(start, start + wordDigits);
  return digits.length === wordDigits ? BigInt(`0x${digits}`) : undefined;
}

/** Null for undefined, the zero address, or a word larger than an address. */
export function addressOf(word: bigint | undefined): Address | null {
  if (word === undefined || word >= 1n << 160n) return null;
  const address = numberToHex(word, { size: 20 });
  return address === zeroAddress ? null : address;
}
