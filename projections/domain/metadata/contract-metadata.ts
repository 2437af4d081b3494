import {
  firstUsable,
  isJsonSchema,
  type JsonObject,
  membersOf,
  parseDescription,
  parseName,
  parseNestedUri,
} from "./document.ts";
import { parseLink, parseSvg } from "./media.ts";

/** Metadata from a contract's document (ERC-7572). */
export type ContractMetadata = {
  name: string | null;
  description: string | null;
  image: string | null;
  banner: string | null;
  website: string | null;
  twitter: string | null;
  discord: string | null;
};

/** Parses a contract's document; null where it has no usable member. */
export function parseContractMetadata(document: JsonObject): ContractMetadata | null {
  if (isJsonSchema(document)) return null;
  const members = membersOf(document);
  const first = (parse: (value: unknown) => string | null, ...names: string[]) =>
    firstUsable(members(...names), parse);
  const metadata: ContractMetadata = {
    name: first(parseName, "name"),
    description: first(parseDescription, "description"),
    image: first(parseNestedMedia, "image", "image_url", "image_uri", "image_data"),
    banner: first(parseNestedMedia, "banner_image", "banner_image_url", "banner"),
    website: first(parseLink, "external_link", "external_url", "website"),
    twitter: first(parseTwitter, "twitter", "twitter_url", "x"),
    discord: first(parseLink, "discord", "discord_url"),
  };
  return Object.values(metadata).every((one) => one === null) ? null : metadata;
}

const parseNestedMedia = (value: unknown) => parseNestedUri(value, parseSvg);

/** The account is given as URL or as name. */
function parseTwitter(value: unknown): string | null {
  const [, name] = typeof value === "string" ? (/^\s*@?(\w{1,15})\s*$/.exec(value) ?? []) : [];
  return name === undefined ? parseLink(value) : `https://x.com/${name}`;
}
