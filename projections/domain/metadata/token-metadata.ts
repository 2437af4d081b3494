import { type Attribute, parseAttributes } from "./attributes.ts";
import { parseDescription, parseName, parseNestedUri } from "./document-values.ts";
import { type IdForm, substituteId } from "./id-placeholder.ts";
import {
  firstUsable,
  isJsonObject,
  type JsonObject,
  type Members,
  membersOf,
} from "./json-document.ts";
import { isJsonSchema } from "./json-schema.ts";
import { openLimitNotes } from "./limit-notes.ts";
import { mediaTypeOf, parseMedia, parseSvg } from "./media.ts";
import type { OnLimit } from "./text.ts";

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
