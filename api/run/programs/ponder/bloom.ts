import { type Hex, hexToBytes, keccak256 } from "viem";

/** Addresses and topics whose bits are kept: those of filters and of busy contracts come again in each block. */
const mostKept = 20_000;
/** Three bit positions of 11 bits each, in one number. */
const kept = new Map<string, number>();
let last: { hex: string; bytes: Uint8Array } = { hex: "", bytes: new Uint8Array(0) };

/**
 * Whether a block's bloom filter may hold an address or a topic (Ethereum yellow paper, 4.3.1): false means no. In place
 * of Ponder's own, which parses the filter and hashes the value anew for each value of each block.
 */
export function isInBloom(bloom: Hex, input: Hex): boolean {
  if (last.hex !== bloom) last = { hex: bloom, bytes: hexToBytes(bloom) };
  let bits = bitsOf(input);
  for (let nth = 0; nth < 3; nth += 1) {
    const bit = bits % 2_048;
    // Bit 0 is the last of 256 bytes.
    if (((last.bytes[255 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) === 0) return false;
    bits = Math.floor(bits / 2_048);
  }
  return true;
}

function bitsOf(input: Hex): number {
  const found = kept.get(input);
  if (found !== undefined) return found;
  const hash = keccak256(input, "bytes");
  const bit = (at: number) => (((hash[at] ?? 0) << 8) + (hash[at + 1] ?? 0)) & 0x7ff;
  const bits = bit(0) + bit(2) * 2_048 + bit(4) * 2_048 ** 2;
  if (kept.size >= mostKept) kept.clear();
  kept.set(input, bits);
  return bits;
}
