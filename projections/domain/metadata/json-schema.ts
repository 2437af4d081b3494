import { isJsonObject, type JsonObject } from "./json-document.ts";

const types = new Set(["string", "number", "integer", "object", "array", "boolean", "null"]);

const documentNames = ["name", "description", "image"];

/**
 * Whether a document describes what documents have to look like instead of a token: ERC-721 and ERC-1155 print such
 * schemas, and some serve them. Its title and descriptions are those of the schema.
 */
export function isJsonSchema(document: JsonObject): boolean {
  const { $schema, type, properties } = document;
  if (!isJsonObject(properties)) return false;
  const members = Object.values(properties);
  if (members.length === 0 || !members.every(isDeclaration)) return false;
  if (type === "object" || typeof $schema === "string") return true;
  return members.every(hasType) && documentNames.some((name) => Object.hasOwn(properties, name));
}

const isDeclaration = (member: unknown): boolean =>
  isJsonObject(member) && !Object.hasOwn(member, "value");

const hasType = (member: unknown): boolean =>
  isJsonObject(member) && typeof member.type === "string" && types.has(member.type);
