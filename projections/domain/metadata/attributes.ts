import { exactNumber } from "../json/exact-number.ts";
import { entriesOf } from "./attribute-entries.ts";
import { firstUsable, type JsonObject, membersOf } from "./json-document.ts";
import type { LimitNotes } from "./limit-notes.ts";
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
 * The attributes of a token's document, in its order, from the first place that has any. An entry without a trait or with
 * a value that is neither text nor a number is left out, and so are repetitions.
 */
export function parseAttributes(document: JsonObject, notes: LimitNotes): Attribute[] {
  for (const entries of entriesOf(document)) {
    const attributes = distinctAttributes(entries, notes);
    if (attributes.length > 0) return attributes;
  }
  return [];
}

function distinctAttributes(entries: readonly JsonObject[], notes: LimitNotes): Attribute[] {
  const kept: Attribute[] = [];
  const keys = new Set<string>();
  for (const entry of entries.slice(0, maxEntries)) {
    const attribute = parseAttribute(entry, notes);
    if (attribute === null) continue;
    keys.add(JSON.stringify([attribute.trait_type, attribute.value]));
    if (keys.size > kept.length && kept.length < maxAttributes) kept.push(attribute);
  }
  if (keys.size > maxAttributes) {
    notes.add(
      `${keys.size - maxAttributes} attributes left out: at most ${maxAttributes} are kept`,
    );
  }
  if (entries.length > maxEntries) {
    notes.add(`attributes after the first ${maxEntries} entries not read`);
  }
  return kept;
}

function parseAttribute(entry: JsonObject, notes: LimitNotes): Attribute | null {
  const members = membersOf(entry);
  const text = (what: string, length: number) => (value: unknown) =>
    parseText(value, length, (note) => notes.add(`${what} ${note}`));
  // `type` is last: beside a name it says whether the value is text or a number.
  const names = members("trait_type", "trait", "name", "key", "label", "type");
  const trait = firstUsable(names, text("the name of a trait", traitLength));
  const display = firstUsable(members("display_type"), (value) => parseText(value, displayLength));
  const value = firstUsable(members("value", "trait_value"), (one) =>
    parseValue(one, display, text("the value of a trait", valueLength)),
  );
  if (trait === null || value === null) return null;
  return { trait_type: trait, value, ...(display === null ? {} : { display_type: display }) };
}

function parseValue(
  value: unknown,
  display: string | null,
  parse: (value: unknown) => string | null,
): string | number | null {
  if (typeof value === "number") return finite(value);
  const text = parse(value);
  if (text === null || display === null || !numericDisplays.has(display)) return text;
  if (!/^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return text;
  const number = exactNumber(text);
  return typeof number === "number" ? finite(number) : text;
}

/** JSON has no infinity, and writes a negative zero as zero. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value + 0 : null;
}
