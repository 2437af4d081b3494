import type { Request, RequestHandler } from "express";
import { type Document, type Media, mediaDocument, sendDocument } from "#api/http/answer.ts";
import { type Limiter, limitPages } from "#api/http/limit.ts";
import { callerAddress, networkOf } from "#api/http/request.ts";
import { referTo } from "#api/v1/collection-reference.ts";
import type { Context } from "#api/v1/context.ts";
import { presentMedia } from "#api/v1/media-links.ts";
import type { ChainId } from "#chains/index.ts";
import { locate } from "#projections/domain/metadata/location.ts";
import { readCollectionMedia, readTokenMedia } from "#projections/metadata/read-media.ts";
import { type PictureWidth, pictureVersion, pictureWidths } from "./address.ts";
import type { PictureFormat } from "./decoder.ts";
import { drawPicture } from "./drawn-picture.ts";
import type { Pictures } from "./open-pictures.ts";

/** Paths of the pictures, of tokens and of collections. */
export const picturePaths = [
  "/pictures/{chain}/{contract}/{tokenId}/{width}",
  "/pictures/{chain}/{contract}/{width}",
] as const;

/** Counts pictures as pages are, and apart from them: a page has dozens. */
export const limitPictures = (limiter: Limiter): RequestHandler =>
  limitPages(
    { ...limiter, admitMedia: (address) => limiter.admitMedia(`pictures ${address}`) },
    ({ params }, response) => {
      const { type, bytes } = drawPicture(String(params.contract), String(params.tokenId ?? ""));
      response.status(429).set("Cache-Control", "no-store").type(type).send(bytes);
    },
  );

type Options = {
  readonly context: Pick<Context, "db" | "chains" | "media">;
  /** Without it every picture is drawn. */
  readonly pictures?: Pictures | undefined;
};

type PictureRequest = {
  readonly chainId: ChainId;
  readonly contract: string;
  readonly tokenId?: string;
  readonly width: PictureWidth;
};

/** Seconds for which a picture is kept by who got it: of content that has its own name for ever, others, drawn ones. */
export const maxAges = { named: 31_536_000, other: 3_600, drawn: 300 };

/**
 * Serves the picture of a token or a collection at one of the site's widths; a drawn one where there is none. Only what
 * the metadata of an indexed contract names is fetched.
 */
export function servePictures({ context, pictures }: Options): RequestHandler {
  return async (request, response, next) => {
    const asked = askedBy(request, context.chains);
    if (asked === undefined) {
      next("route");
      return;
    }
    response.vary("Accept");
    const uri = pictures === undefined ? null : await readUri(context, asked);
    const found = uri === null ? "none" : await pictures?.get(wantedBy(request, uri, asked));
    await sendDocument(request, response, documentOf(found ?? "none"));

    function documentOf(media: Media | "none" | "busy"): Document {
      const drawn = drawPicture(String(asked?.contract), asked?.tokenId);
      if (media === "none") return withAge(drawn, maxAges.drawn);
      if (media === "busy" || uri === null) return withAge(drawn, null);
      const isNamed = isForEver(uri, context, request.query.v);
      return withAge(media, isNamed ? maxAges.named : maxAges.other);
    }
  };
}

const wantedBy = (request: Request, uri: string, { chainId, contract, width }: PictureRequest) => ({
  uri,
  width,
  contract: `${chainId} ${contract.toLowerCase()}`,
  format: formatFor(request),
  caller: networkOf(callerAddress(request)),
});

/** Who takes both as well gets WebP. */
const formatFor = (request: Request): PictureFormat =>
  request.accepts(["image/webp", "image/avif"]) === "image/avif" ? "avif" : "webp";

export function withAge(media: Media, seconds: number | null): Document {
  const document = mediaDocument(media);
  if (seconds === null) return { ...document, cacheControl: "no-store" };
  const suffix = seconds === maxAges.named ? ", immutable" : "";
  return { ...document, cacheControl: `public, max-age=${seconds}${suffix}` };
}

function askedBy({ params }: Request, chains: readonly ChainId[]): PictureRequest | undefined {
  const { chain, contract, tokenId, width: text } = params as Record<string, string | undefined>;
  const chainId = chains.find((one) => String(one) === chain);
  const width = Object.values(pictureWidths).find((one) => String(one) === text);
  const isToken = tokenId === undefined || /^\d{1,78}$/.test(tokenId);
  if (chainId === undefined || width === undefined || !isToken) return undefined;
  if (contract === undefined || !/^0x[0-9a-f]{40}$/i.test(contract)) return undefined;
  return { chainId, contract, width, ...(tokenId !== undefined && { tokenId }) };
}

export async function readUri(
  { db }: Pick<Context, "db">,
  asked: Omit<PictureRequest, "width">,
): Promise<string | null> {
  const found = await referTo(db, asked.chainId, asked.contract);
  if (found === null) return null;
  const { collectionId, contractId } = found;
  if (asked.tokenId === undefined) return await readCollectionMedia(db, collectionId, "image");
  const token = { contractId: contractId ?? collectionId, tokenId: BigInt(asked.tokenId) };
  return await readTokenMedia(db, token, "image");
}

/** Whether the address names this image, and the image names its content, which then is no other at any time. */
function isForEver(uri: string, { media }: Options["context"], version: unknown): boolean {
  const { url } = presentMedia(uri, "", { ...media, isList: true });
  return namesContent(uri) && url !== null && version === pictureVersion(url);
}

/** Whether the address is that of its content, which then is no other at any time. */
export function namesContent(uri: string): boolean {
  const location = locate(uri);
  if (typeof location === "string") return false;
  const { kind } = location;
  return kind === "arweave" || (kind === "ipfs" && location.path.startsWith("ipfs/"));
}
