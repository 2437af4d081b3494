import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

export type KeyType = "instant" | "permanent";

/** Every secret of this form, distinguished by its prefix. */
export type SecretType = KeyType | "client" | "bearer" | "session" | "link" | "signIn";

const prefixes = {
  instant: "mk_inst_",
  permanent: "mk_live_",
  client: "mk_client_",
  bearer: "mk_token_",
  session: "mk_session_",
  link: "mk_link_",
  signIn: "mk_signin_",
} as const;
const secretLength = 43;
const checksumLength = 6;
const body = /^[0-9A-Za-z]{49}$/;

/** A new key: its type's prefix, 256 random bits and a checksum, which detects typos without a database query. */
export function makeKey(type: SecretType): string {
  const secret = base62(BigInt(`0x${randomBytes(32).toString("hex")}`), secretLength);
  const text = prefixes[type] + secret;
  return text + checksumOf(text);
}

/** Whether the text has the form of an API key. */
export const isKey = (text: string): boolean =>
  isSecret("instant", text) || isSecret("permanent", text);

/** Whether the text has the form of a secret of this type. */
export function isSecret(type: SecretType, text: string): boolean {
  const prefix = prefixes[type];
  if (!text.startsWith(prefix) || !body.test(text.slice(prefix.length))) return false;
  const end = text.length - checksumLength;
  return text.slice(end) === checksumOf(text.slice(0, end));
}

/** SHA-256: a slow hash adds nothing for 256 random bits. */
export const hashKey = (key: string): Buffer => createHash("sha256").update(key).digest();

/** The characters by which an owner recognizes a key in a list. */
export const lastCharacters = (key: string): string => key.slice(-4);

/** Masks keys in a text for the log. */
export const maskKeys = (text: string): string =>
  text.replaceAll(/mk_(inst|live|client|token|session|link|signin)_[0-9A-Za-z]+/g, "mk_$1_***");

const checksumOf = (text: string): string => base62(BigInt(crc32(text)), checksumLength);

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function base62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, "0");
}
