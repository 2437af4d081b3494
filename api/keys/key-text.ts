import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

export type KeyType = "instant" | "permanent";

const prefixes = { instant: "mk_inst_", permanent: "mk_live_" } as const;
const secretLength = 43;
const checksumLength = 6;
const pattern = /^mk_(?:inst|live)_[0-9A-Za-z]{49}$/;

/** A new key: its type, 256 random bits and a checksum, which tells a mistyped one without a look at the database. */
export function makeKey(type: KeyType): string {
  const secret = base62(BigInt(`0x${randomBytes(32).toString("hex")}`), secretLength);
  const text = prefixes[type] + secret;
  return text + checksumOf(text);
}

/** Whether it can have been given out at all. */
export function isKey(text: string): boolean {
  if (!pattern.test(text)) return false;
  const end = text.length - checksumLength;
  return text.slice(end) === checksumOf(text.slice(0, end));
}

/** SHA-256: a slow hash would protect nothing that has 256 random bits. */
export const hashKey = (key: string): Buffer => createHash("sha256").update(key).digest();

/** By what its owner knows a key in a list. */
export const endingOf = (key: string): string => key.slice(-4);

/** Text that may hold a key, fit for a log. */
export const maskKeys = (text: string): string =>
  text.replaceAll(/mk_(inst|live)_[0-9A-Za-z]+/g, "mk_$1_***");

const checksumOf = (text: string): string => base62(BigInt(crc32(text)), checksumLength);

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function base62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, "0");
}
