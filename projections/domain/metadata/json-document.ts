/** An untrusted JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The JSON object in a document's bytes, or a message why there is none. Invalid UTF-8 is replaced, not rejected. */
export function parseJsonDocument(bytes: Uint8Array): JsonObject | string {
  const text = new TextDecoder().decode(bytes);
  if (/^\s*</.test(text)) return "the document is HTML or XML, not JSON";
  try {
    const document: unknown = JSON.parse(text);
    return isJsonObject(document) ? document : "the document is not a JSON object";
  } catch {
    return "the document is not JSON";
  }
}

/** The first of the named members that is not empty; inherited properties are not members. */
export function memberOf(document: JsonObject, ...names: readonly string[]): unknown {
  for (const name of names) {
    const value = Object.hasOwn(document, name) ? document[name] : undefined;
    if (value !== undefined && value !== null && value !== "") return value;
  }
  return undefined;
}
