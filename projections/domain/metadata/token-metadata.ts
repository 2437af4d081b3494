import { type Attribute, parseAttributes } from "./attributes.ts";
import { type JsonObject, memberOf } from "./json-document.ts";
import { substituteId } from "./location.ts";
import { mediaTypeOf, parseMedia, parseSvg } from "./media.ts";
import { parseLines, parseText } from "./text.ts";

/** What a token's document says. */
export type TokenMetadata = {
  name: string | null;
  description: string | null;
  image: string | null;
  animation: string | null;
  /** Of the image, where its URI tells it. */
  contentType: string | null;
  attributes: Attribute[];
};

const nameLength = 256;
const descriptionLength = 10_000;

/**
 * Reads a token's document; null where it says nothing of the token. `editionId`: of an ERC-1155 token, whose document
 * may be one for all ids and hold `{id}`.
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
  const { attributes, ...told } = metadata;
  const saysNothing = attributes.length === 0 && Object.values(told).every((one) => one === null);
  return saysNothing ? null : metadata;
}

/** Where a token's URI leads to a picture and not to a document, the picture is all that is known. */
export function pictureMetadata(uri: string, contentType: string): TokenMetadata | null {
  const image = parseMedia(uri);
  if (image === null) return null;
  return { name: null, description: null, image, animation: null, contentType, attributes: [] };
}
