import { parseHandmadeJson } from "../json.ts";
import { substituteId } from "./location.ts";

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
  return typeof value === "string" && /^[\s\p{Cc}\p{Cf}]*[[{]/u.test(value)
    ? parseHandmadeJson(value)
    : undefined;
}

/** No member of a document that is read is deeper. */
const deepestText = 12;

/** A document with a token's id for `{id}` in every string value, as ERC-1155 says. */
export function withTokenId(document: JsonObject, tokenId: bigint): JsonObject {
  const written = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return substituteId(value, tokenId);
    if (typeof value !== "object" || value === null || depth === deepestText) return value;
    if (Array.isArray(value)) return value.map((item) => written(item, depth + 1));
    const members = Object.entries(value).map(([name, one]) => [name, written(one, depth + 1)]);
    return Object.fromEntries(members);
  };
  return written(document, 0) as JsonObject;
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

const types = new Set(["string", "number", "integer", "object", "array", "boolean", "null"]);

/** Words of schemas that declare a member without its type, or a document without its members. */
const compositions = ["$ref", "enum", "const", "oneOf", "anyOf", "allOf", "definitions", "$defs"];

const documentNames = ["name", "description", "image"];

/**
 * Whether a document describes what documents have to look like instead of a token: ERC-721 and ERC-1155 print such
 * schemas, and some serve them. Its title and descriptions are those of the schema.
 */
export function isJsonSchema(document: JsonObject): boolean {
  const members = membersOf(document);
  const isNamed = members("$schema").some((one) => typeof one === "string");
  if (isNamed && members(...compositions).length > 0) return true;
  const isObject = isNamed || isOfType(document, "object");
  return members("properties").some(
    (properties) => isJsonObject(properties) && isDeclared(properties, isObject),
  );
}

/** Whether members are declared, none of which has a value. */
function isDeclared(properties: JsonObject, isOfSchema: boolean): boolean {
  const members = Object.values(properties);
  if (members.length === 0 || !members.every(isDeclaration)) return false;
  return (
    isOfSchema || (members.every(hasType) && membersOf(properties)(...documentNames).length > 0)
  );
}

const isDeclaration = (member: unknown): boolean =>
  isJsonObject(member) && membersOf(member)("value").length === 0;

const hasType = (member: unknown): boolean =>
  isJsonObject(member) &&
  (typesOf(member).length > 0 || membersOf(member)(...compositions).length > 0);

const isOfType = (declaration: JsonObject, type: string): boolean =>
  typesOf(declaration).includes(type);

const schemaWords = new Set(
  [
    ...["type", "title", "description", "items", "properties", "required", "default", "examples"],
    ...["minItems", "maxItems", "uniqueItems", "additionalProperties", ...compositions],
  ].map(plainName),
);

/** Whether a schema declares a list or an object here, in words of schemas alone. */
export const isDeclaredList = (object: JsonObject): boolean =>
  (isOfType(object, "array") || isOfType(object, "object")) &&
  Object.keys(object).every((name) => schemaWords.has(plainName(name)));

/** The types that a schema names; none: what stands there is no type. */
function typesOf(declaration: JsonObject): string[] {
  const names = membersOf(declaration)("type").flat();
  const lower = names.map((name) => (typeof name === "string" ? name.toLowerCase() : ""));
  return lower.every((name) => types.has(name)) ? lower : [];
}

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

/** Marks that reverse what is shown after them, so that a name or an address reads as another. */
export const bidiMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Called where a limit leaves something out, with what it is. */
export type OnLimit = (note: string) => void;
const ignore: OnLimit = () => undefined;

/**
 * Untrusted text as one line, safe to store and show: well-formed Unicode of at most `length` characters without control
 * characters or repeated spaces. Numbers become their digits. Null where nothing is left.
 */
export function parseText(value: unknown, length: number, onLimit = ignore): string | null {
  const text = textOf(value, length, onLimit).replaceAll(/[\p{Cc}\s]+/gu, " ");
  return bounded(text, length, onLimit);
}

/** The same, with line breaks and tabs preserved. */
function parseLines(value: unknown, length: number, onLimit = ignore): string | null {
  const text = textOf(value, length, onLimit).replaceAll(/\r\n?/g, "\n");
  return bounded(text.replaceAll(/[^\P{Cc}\n\t]+/gu, " "), length, onLimit);
}

function textOf(value: unknown, length: number, onLimit: OnLimit): string {
  if (typeof value === "boolean" || Number.isFinite(value)) return String(value);
  if (typeof value !== "string") return "";
  const text = value.trim();
  // A character has at most two UTF-16 units: anything beyond `length * 2` is cut off before it is processed.
  if (text.length > length * 2) onLimit(cutTo(length));
  return text
    .slice(0, length * 2)
    .toWellFormed()
    .replaceAll(bidiMarks, "");
}

function bounded(text: string, length: number, onLimit: OnLimit): string | null {
  const characters = [...text.trim()];
  if (characters.length > length) onLimit(cutTo(length));
  const cut = characters.slice(0, length).join("").trim();
  return cut === "" ? null : cut;
}

const cutTo = (length: number) => `cut to ${length} characters`;

const boms = [
  { bytes: [0xef, 0xbb, 0xbf], encoding: "utf-8" },
  { bytes: [0xff, 0xfe], encoding: "utf-16le" },
  { bytes: [0xfe, 0xff], encoding: "utf-16be" },
] as const;

/**
 * Text of a document's bytes: by its byte order mark, else UTF-8 where it is that, as JSON has to be, else the encoding
 * that its host says. Bytes that are none of these are replaced, not rejected.
 */
function decodeText(bytes: Uint8Array, charset?: string): string {
  const mark = boms.find((bom) => bom.bytes.every((byte, at) => bytes[at] === byte));
  const unmarked = mark?.encoding ?? wideEncodingOf(bytes);
  if (unmarked !== null) return new TextDecoder(unmarked).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return decodeAs(charset, bytes);
  }
}

/** Of two bytes of each letter in a language of ASCII one is zero. */
function wideEncodingOf([first, second, third, fourth]: Uint8Array):
  | "utf-16le"
  | "utf-16be"
  | null {
  if (first === 0 && second !== 0 && third === 0 && fourth !== 0) return "utf-16be";
  return first !== 0 && second === 0 && third !== 0 && fourth === 0 ? "utf-16le" : null;
}

/** As UTF-8 where the encoding is not known. */
function decodeAs(charset: string | undefined, bytes: Uint8Array): string {
  try {
    return new TextDecoder(charset?.replace(/["'\s]/g, "")).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
