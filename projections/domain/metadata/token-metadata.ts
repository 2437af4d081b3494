import { exactNumber } from "../json.ts";
import {
  firstUsable,
  isDeclaredList,
  isJsonObject,
  isJsonSchema,
  type JsonObject,
  type Members,
  membersOf,
  type OnLimit,
  parseDescription,
  parseEmbedded,
  parseName,
  parseNestedUri,
  parseText,
  plainName,
} from "./document.ts";
import { type LimitNotes, openLimitNotes } from "./limit-notes.ts";
import { type IdForm, substituteId } from "./location.ts";
import { mediaTypeOf, parseMedia, parseSvg } from "./media.ts";

/** Metadata from a token's document. */
export type TokenMetadata = {
  name: string | null;
  description: string | null;
  image: string | null;
  animation: string | null;
  /** Of the image, where it follows from its URI. */
  contentType: string | null;
  attributes: Attribute[];
  /** What of the document is left out for a limit; absent: nothing. */
  issue?: string;
};

const imageNames = [
  ...["image", "image_url", "image_uri", "image_data", "svg_image_data", "image_original_url"],
  ...["images", "picture"],
];
const animationNames = ["animation_url", "animation", "animation_uri"];

/**
 * Parses a token's document; null where it has no usable member. Of members that say the same the first usable one counts.
 * `tokenId`: of a token whose document may be shared by all ids and contain `{id}`, written in the `form`.
 */
export function parseTokenMetadata(
  document: JsonObject,
  tokenId?: bigint,
  form: IdForm = "hex",
): TokenMetadata | null {
  const notes = openLimitNotes();
  const noteOn =
    (what: string): OnLimit =>
    (note) =>
      notes.add(`${what} ${note}`);
  const isSchema = isJsonSchema(document);
  const members = documentMembers(document);
  const media = (parse: typeof parseMedia, what: string) => (value: unknown) =>
    parseNestedUri(value, (uri) =>
      parse(
        tokenId === undefined ? uri : substituteId(uri, tokenId, form),
        noteOn(`${what} left out:`),
      ),
    );
  const image = firstUsable(members(...imageNames), media(parseSvg, "image"));
  const names = isSchema ? members("name") : members("name", "title");
  const metadata: TokenMetadata = {
    name: firstUsable(names, (value) => parseName(value, noteOn("name"))),
    description: firstUsable(isSchema ? [] : members("description"), (value) =>
      parseDescription(value, noteOn("description")),
    ),
    image,
    animation: firstUsable(members(...animationNames), media(parseMedia, "animation")),
    contentType: mediaTypeOf(image),
    attributes: parseAttributes(document, notes),
  };
  const { attributes, ...others } = metadata;
  const isEmpty = attributes.length === 0 && Object.values(others).every((one) => one === null);
  if (isEmpty) return null;
  const issue = notes.text();
  return issue === undefined ? metadata : { ...metadata, issue };
}

/** The members of a document, and after them those of what it wraps. */
function documentMembers(document: JsonObject): Members {
  const own = membersOf(document);
  const wrapped = own("metadata", "data")
    .filter(isJsonObject)
    .filter((one) => !isJsonSchema(one));
  const all = [own, ...wrapped.map(membersOf)];
  return (...names) => all.flatMap((members) => members(...names));
}

/** Metadata of a token whose URI points to an image instead of a document. */
export function imageMetadata(uri: string, contentType: string): TokenMetadata | null {
  const image = parseMedia(uri);
  if (image === null) return null;
  return { name: null, description: null, image, animation: null, contentType, attributes: [] };
}

type Attribute = {
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
function parseAttributes(document: JsonObject, notes: LimitNotes): Attribute[] {
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
  const display = firstUsable(members("display_type"), text("a display type", displayLength));
  const value = firstUsable(members("value", "trait_value"), (one) =>
    parseValue(one, display, text("the value of a trait", valueLength)),
  );
  if (value === null && members("value", "trait_value").some(isInfinite)) {
    notes.add("the value of a trait left out: beyond all doubles");
  }
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

const isInfinite = (value: unknown): boolean =>
  typeof value === "number" && Math.abs(value) === Number.POSITIVE_INFINITY;

/** JSON has no infinity, and writes a negative zero as zero. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value + 0 : null;
}

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
function* entriesOf(document: JsonObject): Generator<JsonObject[]> {
  const members = membersOf(document);
  for (const value of members("attributes", "traits")) yield entriesIn(value);
  // The members of a schema are declarations, also where one is called `attributes`.
  const isSchema = isJsonSchema(document);
  const nested = members(...(isSchema ? [] : ["properties"]), "metadata", "data")
    .map((value) => parseEmbedded(value) ?? value)
    .filter(isJsonObject)
    .filter((object) => !isJsonSchema(object));
  for (const object of nested) {
    for (const value of membersOf(object)("attributes", "traits")) yield entriesIn(value);
  }
  if (isSchema) return;
  for (const value of members("properties")) yield entriesOfProperties(value);
  for (const object of nested) {
    for (const value of membersOf(object)("properties")) yield entriesOfProperties(value);
  }
}

function entriesIn(value: unknown): JsonObject[] {
  const entries = parseEmbedded(value) ?? value;
  if (Array.isArray(entries)) {
    const objects = entries.filter(isJsonObject);
    return objects.flatMap((entry) => entriesOfItem(entry, objects.length === 1));
  }
  if (!isJsonObject(entries) || isDocument(entries)) return [];
  return isDeclaredList(entries) ? [] : entriesOfMap(entries);
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
