import { isJsonObject, type JsonObject, memberOf } from "./json-document.ts";
import { parseText } from "./text.ts";

export type Attribute = {
  trait_type: string;
  value: string | number;
  display_type?: string;
};

const maxAttributes = 200;
/** Entries of a list that are read; repeated and empty ones do not count towards `maxAttributes`. */
const maxEntries = 10_000;
const traitLength = 128;
const valueLength = 256;
const displayLength = 40;

/** Display types whose values are numbers even where written as text. */
const numericDisplays = new Set(["number", "boost_number", "boost_percentage", "date"]);

/**
 * The attributes of a token's document, in its order: a list of `{trait_type, value}`, or an object of trait to value.
 * An entry without a trait or with a value that is neither text nor a number is left out, and so are repetitions.
 */
export function parseAttributes(document: JsonObject): Attribute[] {
  const found = new Map<string, Attribute>();
  for (const entry of entriesOf(memberOf(document, "attributes", "traits"))) {
    const attribute = parseAttribute(entry);
    if (attribute === null) continue;
    const key = JSON.stringify([attribute.trait_type, attribute.value]);
    if (!found.has(key)) found.set(key, attribute);
    if (found.size === maxAttributes) break;
  }
  return [...found.values()];
}

function entriesOf(attributes: unknown): JsonObject[] {
  if (Array.isArray(attributes)) return attributes.slice(0, maxEntries).filter(isJsonObject);
  if (!isJsonObject(attributes)) return [];
  return Object.entries(attributes)
    .slice(0, maxEntries)
    .map(([trait_type, value]) => ({ trait_type, value }));
}

function parseAttribute(entry: JsonObject): Attribute | null {
  const trait = parseText(memberOf(entry, "trait_type", "traitType", "name", "key"), traitLength);
  const display = parseText(memberOf(entry, "display_type", "displayType"), displayLength);
  const value = parseValue(memberOf(entry, "value"), display);
  if (trait === null || value === null) return null;
  return { trait_type: trait, value, ...(display === null ? {} : { display_type: display }) };
}

function parseValue(value: unknown, display: string | null): string | number | null {
  if (typeof value === "number") return finite(value);
  const text = parseText(value, valueLength);
  if (text === null || display === null || !numericDisplays.has(display)) return text;
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? finite(Number(text)) : text;
}

/** JSON has no infinity, and writes a negative zero as zero. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value + 0 : null;
}
