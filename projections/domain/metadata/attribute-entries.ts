import {
  isJsonObject,
  type JsonObject,
  membersOf,
  parseEmbedded,
  plainName,
} from "./json-document.ts";
import { isJsonSchema } from "./json-schema.ts";

const traitNames = ["trait_type", "trait", "name", "key", "label", "type"];
const valueNames = ["value", "trait_value"];
const entryNames = new Set([...traitNames, ...valueNames].map(plainName));

/** Members of `properties` that are the document's own, or belong to its files. */
const ownNames = new Set(
  [
    ...["attributes", "traits", "properties", "files", "creators", "collection", "decimals"],
    ...["name", "title", "description", "image", "image_url", "image_data", "animation_url"],
    ...["external_url", "external_link", "background_color", "youtube_url", "localization"],
  ].map(plainName),
);

/**
 * The entries of each place in which people write attributes, likeliest first: `attributes` or `traits`, the same within
 * `properties`, `metadata` or `data`, and `properties` as ERC-1155 has them. Each may be text that holds JSON.
 */
export function* entriesOf(document: JsonObject): Generator<JsonObject[]> {
  const members = membersOf(document);
  for (const value of members("attributes", "traits")) yield entriesIn(value);
  const nested = members("properties", "metadata", "data")
    .map((value) => parseEmbedded(value) ?? value)
    .filter(isJsonObject);
  for (const object of nested) {
    for (const value of membersOf(object)("attributes", "traits")) yield entriesIn(value);
  }
  if (isJsonSchema(document)) return;
  for (const value of members("properties")) yield entriesOfProperties(value);
  for (const object of nested) {
    if (isJsonSchema(object)) continue;
    for (const value of membersOf(object)("properties")) yield entriesOfProperties(value);
  }
}

function entriesIn(value: unknown): JsonObject[] {
  const entries = parseEmbedded(value) ?? value;
  if (Array.isArray(entries)) {
    const objects = entries.filter(isJsonObject);
    return objects.flatMap((entry) => entriesOfItem(entry, objects.length === 1));
  }
  return isJsonObject(entries) && !isDocument(entries) ? entriesOfMap(entries) : [];
}

/** An item of a list: `{trait_type, value}`, or `{Hat: "Beanie"}`; the only item may also hold several of the latter. */
function entriesOfItem(item: JsonObject, isOnly: boolean): JsonObject[] {
  const names = Object.keys(item);
  const isEntry = names.some((name) => entryNames.has(plainName(name)));
  return isEntry || (names.length > 1 && !isOnly) ? [item] : entriesOfMap(item);
}

/** `{Hat: "Beanie"}`, `{Hat: {value: "Beanie"}}`, or a single `{trait_type, value}`. */
function entriesOfMap(map: JsonObject): JsonObject[] {
  const members = membersOf(map);
  if (members("trait_type").length > 0 && members("value").length > 0) return [map];
  return Object.entries(map).map(([trait, value]) => {
    if (!isJsonObject(value)) return { trait_type: trait, value };
    const isNumbered = /^\d+$/.test(trait);
    const [name] = membersOf(value)("trait_type", "trait", "name", ...(isNumbered ? ["type"] : []));
    return { ...value, trait_type: typeof name === "string" && name !== "" ? name : trait };
  });
}

function entriesOfProperties(value: unknown): JsonObject[] {
  const properties = parseEmbedded(value) ?? value;
  if (!isJsonObject(properties)) return entriesIn(properties);
  const names = new Set(Object.keys(properties).map(plainName));
  // Solana's form: the category is that of the files.
  const isOfFiles = names.has("files") || names.has("creators");
  return entriesOfMap(
    Object.fromEntries(
      Object.entries(properties).filter(
        ([name, member]) =>
          !(ownNames.has(plainName(name)) || isAddress(member)) &&
          !(isOfFiles && plainName(name) === "category"),
      ),
    ),
  );
}

const isAddress = (member: unknown): boolean =>
  typeof member === "string" && /^\s*(?:https?|ipfs|ar|data):/i.test(member);

/** A document of its own, as some interfaces answer it in `attributes`. */
const isDocument = (object: JsonObject): boolean =>
  membersOf(object)("image", "image_url", "animation_url").some(isAddress);
