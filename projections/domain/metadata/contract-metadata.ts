import {
  firstUsable,
  isJsonSchema,
  type JsonObject,
  membersOf,
  type OnLimit,
  parseDescription,
  parseName,
  parseNestedUri,
} from "./document.ts";
import { openLimitNotes } from "./limit-notes.ts";
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
  /** What of the document is left out for a limit; absent: nothing. */
  issue?: string;
};

/** Parses a contract's document; null where it has no usable member. */
export function parseContractMetadata(document: JsonObject): ContractMetadata | null {
  if (isJsonSchema(document)) return null;
  const members = membersOf(document);
  const notes = openLimitNotes();
  const first = (what: string, parse: Parse, ...names: string[]) =>
    firstUsable(members(...names), (value) => parse(value, (note) => notes.add(`${what} ${note}`)));
  const metadata: ContractMetadata = {
    name: first("name", parseName, "name"),
    description: first("description", parseDescription, "description"),
    image: first("image", parseNestedMedia, "image", "image_url", "image_uri", "image_data"),
    banner: first("banner", parseNestedMedia, "banner_image", "banner_image_url", "banner"),
    website: first("website", parseWholeLink, "external_link", "external_url", "website"),
    twitter: first("twitter", parseTwitter, "twitter", "twitter_url", "x"),
    discord: first("discord", parseWholeLink, "discord", "discord_url"),
  };
  if (Object.values(metadata).every((one) => one === null)) return null;
  const issue = notes.text();
  return issue === undefined ? metadata : { ...metadata, issue };
}

type Parse = (value: unknown, onLimit: OnLimit) => string | null;

const leftOut =
  (onLimit: OnLimit): OnLimit =>
  (note) =>
    onLimit(`left out: ${note}`);

const parseNestedMedia: Parse = (value, onLimit) =>
  parseNestedUri(value, (uri) => parseSvg(uri, leftOut(onLimit)));

const parseWholeLink: Parse = (value, onLimit) => parseLink(value, leftOut(onLimit));

/** The account is given as URL or as name. */
function parseTwitter(value: unknown, onLimit: OnLimit): string | null {
  const [, name] = typeof value === "string" ? (/^\s*@?(\w{1,15})\s*$/.exec(value) ?? []) : [];
  return name === undefined ? parseWholeLink(value, onLimit) : `https://x.com/${name}`;
}
