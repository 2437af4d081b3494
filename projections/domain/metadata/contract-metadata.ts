import { type JsonObject, memberOf } from "./json-document.ts";
import { parseLink, parseMedia } from "./media.ts";
import { parseLines, parseText } from "./text.ts";

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

const nameLength = 256;
const descriptionLength = 10_000;

/** Parses a contract's document; null where it has no usable member. */
export function parseContractMetadata(document: JsonObject): ContractMetadata | null {
  const metadata: ContractMetadata = {
    name: parseText(memberOf(document, "name"), nameLength),
    description: parseLines(memberOf(document, "description"), descriptionLength),
    image: parseMedia(memberOf(document, "image", "image_url")),
    banner: parseMedia(memberOf(document, "banner_image", "banner_image_url", "banner")),
    website: parseLink(memberOf(document, "external_link", "external_url", "website")),
    twitter: parseTwitter(memberOf(document, "twitter", "twitter_url", "x")),
    discord: parseLink(memberOf(document, "discord", "discord_url")),
  };
  return Object.values(metadata).every((one) => one === null) ? null : metadata;
}

/** The account is given as URL or as name. */
function parseTwitter(value: unknown): string | null {
  const [, name] = typeof value === "string" ? (/^\s*@?(\w{1,15})\s*$/.exec(value) ?? []) : [];
  return name === undefined ? parseLink(value) : `https://x.com/${name}`;
}
