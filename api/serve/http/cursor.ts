import { createHash } from "node:crypto";

/**
 * What a cursor is bound to (endpoint, sort, direction, filters): a cursor is valid only for the list that issued it.
 */
export type CursorScope = Readonly<Record<string, string | number | boolean | bigint | null>>;

const version = 1;
const tagBytes = 12;

/** Opaque text: a checksum over version, scope and key, then the key of the last row returned. */
export function encodeCursor(scope: CursorScope, key: readonly string[]): string {
  const payload = Buffer.from(JSON.stringify(key));
  return Buffer.concat([tagOf(scope, payload), payload]).toString("base64url");
}

/** The key in the cursor, not validated yet, or undefined when the text is not a cursor of this scope. */
export function decodeCursor(scope: CursorScope, text: string): unknown {
  if (!/^[\w-]{20,2500}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64url");
  const payload = bytes.subarray(tagBytes);
  // Base64 has several encodings of the same bytes; only the one that was issued is accepted.
  if (bytes.toString("base64url") !== text) return undefined;
  if (!bytes.subarray(0, tagBytes).equals(tagOf(scope, payload))) return undefined;
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined;
  }
}

function tagOf(scope: CursorScope, payload: Buffer): Buffer {
  const names = Object.keys(scope).sort();
  const identity = JSON.stringify([version, names.map((name) => [name, String(scope[name])])]);
  return createHash("sha256")
    .update(identity)
    .update("\0")
    .update(payload)
    .digest()
    .subarray(0, tagBytes);
}
