import { type Hex, hexToBytes } from "viem";

/** Maximum characters of a contract's text. */
const textLength = 256;
const wordBytes = 32;

/**
 * A `string` (or, in old contracts, a `bytes32`) returned by a contract, sanitized: at most 256 characters, without
 * control characters, invalid bytes replaced. Null if nothing remains.
 */
export function parseContractText(returned: Hex): string | null {
  const text = decode(textBytes(hexToBytes(returned.length % 2 === 0 ? returned : "0x")));
  return text === "" ? null : text;
}

function textBytes(returned: Uint8Array): Uint8Array {
  if (returned.length === wordBytes) return returned;
  const offset = wordAt(returned, 0);
  if (offset === undefined || offset > returned.length - wordBytes) return new Uint8Array();
  const length = wordAt(returned, offset);
  if (length === undefined) return new Uint8Array();
  const start = offset + wordBytes;
  return returned.subarray(start, Math.min(start + length, returned.length));
}

/** A word as a number, if it is small enough for an offset. */
function wordAt(bytes: Uint8Array, start: number): number | undefined {
  const word = bytes.subarray(start, start + wordBytes);
  if (word.length < wordBytes || word.subarray(0, 26).some((byte) => byte !== 0)) return undefined;
  return word.subarray(26).reduce((value, byte) => value * 256 + byte, 0);
}

/**
 * What is not shown, by which a name differs from the one that it imitates: default-ignorable characters and marks of
 * direction, but for joiners and variants of emoji.
 */
const ignorable =
  /(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d|(?<!\p{Extended_Pictographic})\ufe0f|(?![\u200d\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

function decode(bytes: Uint8Array): string {
  // At most four bytes per character; the rest allows for trimmed leading whitespace.
  const kept = new TextDecoder().decode(bytes.subarray(0, textLength * 16));
  const printable = kept
    .replaceAll(/\p{Cc}+/gu, " ")
    .replaceAll(ignorable, "")
    .trim();
  return [...printable].slice(0, textLength).join("").trim();
}

/** Whether a contract returned exactly ABI-encoded `true`. */
export function parseContractFlag(returned: Hex): boolean {
  return returned === `0x${"0".repeat(63)}1`;
}
