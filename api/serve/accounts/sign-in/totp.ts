import { createHmac, randomBytes } from "node:crypto";

/** Time-based one-time passwords, RFC 6238, with what authenticator programs know: SHA-1, 30 seconds, 6 digits. */
export const stepSeconds = 30;
const digits = 6;

/** Steps before and after the current one whose codes are taken: clocks differ, and people type. */
const tolerance = 1;

/** RFC 4226 §4 recommends 160 bits. */
export const makeTotpSecret = (): Buffer => randomBytes(20);

type CodeOptions = { readonly algorithm?: string; readonly length?: number };

/** The code of a time step: RFC 4226 §5.3. */
export function codeAt(
  secret: Uint8Array,
  step: number,
  { algorithm = "sha1", length = digits }: CodeOptions = {},
): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac(algorithm, secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  const value = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(value % 10 ** length).padStart(length, "0");
}

export const stepAt = (time: Date): number => Math.floor(time.getTime() / 1000 / stepSeconds);

/** The step near `time` whose code this is; null: none. Spaces are ignored. */
export function matchingStep(secret: Uint8Array, text: string, time: Date): number | null {
  const code = text.replaceAll(/\s/g, "");
  const now = stepAt(time);
  // The newest first: of equal codes it is the one that rules out most.
  for (let step = now + tolerance; step >= now - tolerance; step -= 1) {
    if (codeAt(secret, step) === code) return step;
  }
  return null;
}

/** The address that authenticator programs read from a QR code. */
export function totpAddress(secret: Uint8Array, account: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 4648 §6, without padding. */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => alphabet[Number.parseInt(group.padEnd(5, "0"), 2)]).join("");
}
