import { type Attribute, parseAttributes } from "./attributes.ts";
import { type JsonObject, memberOf } from "./json-document.ts";
import { substituteId } from "./location.ts";
import { mediaTypeOf, parseMedia, parseSvg } from "./media.ts";
import { parseLines, parseText } from "./text.ts";

/** Metadata from a token's document. */
export type TokenMetadata = {
  name: string | null;
  description: string | null;
  image: string | null;
  animation: string | null;
  /** Of the image, where it follows from its URI. */
  contentType: string | null;
  attributes: Attribute[];
};

const nameLength = 256;
const descriptionLength = 10_000;

/**
 * Parses a token's document; null where it has no usable member. `editionId`: id of an ERC-1155 token, whose document
 * may be shared by all ids and contain `{id}`.
 */
export function parseTokenMetadata(document: JsonObject, editionId?: bigint): TokenMetadata | null {
  const media = (value: unknown) =>
    typeof value === "string" && editionId !== undefined ? substituteId(value, editionId) : value;
  const image =
    parseSvg(media(memberOf(document, "image", "image_url", "imageUrl"))) ??
    parseSvg(media(memberOf(document, "image_data", "svg_image_data")));
  const metadata: TokenMetadata = {
    name: parseText(memberOf(document, "name", "title"), nameLength),
    description: parseLines(memberOf(document, "description"), descriptionLength),
    image,
    animation: parseMedia(media(memberOf(document, "animation_url", "animationUrl"))),
    contentType: mediaTypeOf(image),
    attributes: parseAttributes(document),
  };
  const { attributes, ...members } = metadata;
  const isEmpty = attributes.length === 0 && Object.values(members).every((one) => one === null);
  return isEmpty ? null : metadata;
}

/** Metadata of a token whose URI points to an image instead of a document. */
export function imageMetadata(uri: string, contentType: string): TokenMetadata | null {
  const image = parseMedia(uri);
  if (image === null) return null;
  return { name: null, description: null, image, animation: null, contentType, attributes: [] };
}
