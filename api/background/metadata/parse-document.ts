import { type ContractMetadata, parseContractMetadata } from "#projections/domain/metadata/contract-metadata.ts";
import type { IdForm } from "#projections/domain/metadata/location.ts";
import { type JsonObject, parseJsonDocument, isJsonSchema } from "#projections/domain/metadata/document.ts";
import { imageMetadata, parseTokenMetadata, type TokenMetadata } from "#projections/domain/metadata/token-metadata.ts";
import { type Document, isPicture } from "./fetch-document.ts";

/** A token's metadata in the document at its URI, or why there is none. */
export function parseTokenDocument(
  { tokenId, uri, form }: { tokenId: bigint; uri: string; form: IdForm },
  document: Document,
): TokenMetadata | string {
  if (isPicture(document.mediaType)) {
    return imageMetadata(uri, document.mediaType) ?? noMetadata;
  }
  const json = parseJsonDocument(document.bytes, document.charset);
  if (typeof json === "string") return json;
  return parseTokenMetadata(json, tokenId, form) ?? reasonOfNone(json);
}

/** The same of a contract. */
export function parseContractDocument(document: Document): ContractMetadata | string {
  if (isPicture(document.mediaType)) return "the document is a picture, not JSON";
  const json = parseJsonDocument(document.bytes, document.charset);
  return typeof json === "string" ? json : (parseContractMetadata(json) ?? reasonOfNone(json));
}

const noMetadata = "the document has no metadata";

const reasonOfNone = (document: JsonObject): string =>
  isJsonSchema(document) ? "the document is a JSON schema, not metadata" : noMetadata;
