import { firstUsable, isJsonObject, type JsonObject, membersOf } from "./json-document.ts";
import { type OnLimit, parseLines, parseText } from "./text.ts";

const nameLength = 256;
const descriptionLength = 10_000;

/** A name as text or number, or in several languages. */
export function parseName(value: unknown, onLimit?: OnLimit): string | null {
  const text = localText(value);
  return typeof text === "string" || typeof text === "number"
    ? parseText(text, nameLength, onLimit)
    : null;
}

/** The same of a description, which also may be the only one of a list. */
export function parseDescription(value: unknown, onLimit?: OnLimit): string | null {
  const text = localText(Array.isArray(value) && value.length === 1 ? value[0] : value);
  return typeof text === "string" || typeof text === "number"
    ? parseLines(text, descriptionLength, onLimit)
    : null;
}

const language = /^(?:default|[a-z]{2}(?:[-_][a-z]{2,4})?)$/i;

/** Of a text in several languages the default one, the English one or the first; other values as they are. */
function localText(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const texts = Object.entries(value).filter(([, text]) => typeof text === "string" && text.trim());
  if (!texts.every(([name]) => language.test(name))) return undefined;
  const preferred = texts.find(([name]) => /^default$/i.test(name));
  return (preferred ?? texts.find(([name]) => /^en/i.test(name)) ?? texts[0])?.[1];
}

const uriNames = ["url", "uri", "src", "href", "image", "original", "default"];
const deepest = 3;

/** A URI as text, or in an object (`{url}`, `{src}`) or a list of such: the first that `parse` takes. */
export function parseNestedUri(
  value: unknown,
  parse: (uri: string) => string | null,
  depth = 0,
): string | null {
  if (typeof value === "string") return parse(value);
  if (typeof value !== "object" || value === null || depth === deepest) return null;
  const values = Array.isArray(value)
    ? value.slice(0, 4)
    : membersOf(value as JsonObject)(...uriNames);
  return firstUsable(values, (one) => parseNestedUri(one, parse, depth + 1));
}
