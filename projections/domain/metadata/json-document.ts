import { parseHandmadeJson } from "../json/parse-json.ts";
import { decodeText } from "./decode-text.ts";

/** An untrusted JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The JSON object in a document's bytes, or a message why there is none. `charset`: as its host says. */
export function parseJsonDocument(bytes: Uint8Array, charset?: string): JsonObject | string {
  const text = decodeText(bytes, charset);
  if (/^\s*</.test(text)) return "the document is HTML or XML, not JSON";
  const value = parseHandmadeJson(text);
  if (value === undefined) return "the document is not JSON";
  const document = unwrap(value);
  return isJsonObject(document) ? document : "the document is not a JSON object";
}

/** A document in a list of one, or written as text once more. */
function unwrap(value: unknown): unknown {
  if (Array.isArray(value) && value.length === 1) return value[0];
  return parseEmbedded(value) ?? value;
}

/** A list or an object that is written as text within a document; undefined for anything else. */
export function parseEmbedded(value: unknown): unknown {
  return typeof value === "string" && /^\s*[[{]/.test(value) ? parseHandmadeJson(value) : undefined;
}

/** Values of an object's members by name, in the order of the names. */
export type Members = (...names: readonly string[]) => unknown[];

const longestName = 40;

/** `image_url` also finds `imageUrl`, `Image URL` and the like. Inherited properties are not members. */
export function membersOf(object: JsonObject): Members {
  const values = new Map<string, unknown[]>();
  for (const [name, value] of Object.entries(object)) {
    if (name.length > longestName) continue;
    const key = plainName(name);
    const same = values.get(key);
    if (same === undefined) values.set(key, [value]);
    else same.push(value);
  }
  return (...names) => names.flatMap((name) => values.get(plainName(name)) ?? []);
}

/** A name in lower case without spaces, `_` and `-`. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[\s_-]+/g, "");

/** What the first usable one of some values gives; null: none is usable. */
export function firstUsable<Result>(
  values: readonly unknown[],
  parse: (value: unknown) => Result | null,
): Result | null {
  for (const value of values) {
    const result = parse(value);
    if (result !== null) return result;
  }
  return null;
}
