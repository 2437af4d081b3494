import { z } from "zod";
import type { Media } from "#api/http/answer.ts";
import { locate } from "#projections/domain/metadata/location.ts";
import { reject } from "#projections/domain/rejection.ts";
import { readCollectionMedia, readTokenMedia } from "#projections/metadata/read-media.ts";
import { readToken } from "#projections/tokens/read-token.ts";
import { referTo, rejectUnknownCollection } from "../collection-reference.ts";
import { route } from "../context.ts";
import { chainId, chainRefusals, collectionKey, tokenId } from "../parameters.ts";

/** Seconds: media are fetched again after days at the earliest, and revalidated by their ETag. */
const maxAgeSeconds = 3_600;

const shape = {
  method: "get",
  tag: "Collections",
  query: z.object({ chainId }),
  data: z.null(),
  refuses: { not_found: 404, ...chainRefusals },
  maxAgeSeconds,
} as const;

const mediaTypes = ["image/*", "video/*", "audio/*", "model/*", "application/octet-stream"];

const tokenParts = {
  image: { operationId: "getTokenImage", column: "image", what: "image", mediaTypes },
  animation: {
    operationId: "getTokenAnimation",
    column: "animation",
    what: "animation",
    mediaTypes,
  },
  metadata: {
    operationId: "getTokenMetadata",
    column: "token_uri",
    what: "metadata document",
    mediaTypes: ["application/json", "application/octet-stream"],
  },
} as const;

const tokenRoute = (part: keyof typeof tokenParts) => {
  const { operationId, column, what, mediaTypes } = tokenParts[part];
  return route(
    {
      ...shape,
      path: `/v1/collections/{collection}/tokens/{tokenId}/${part}`,
      operationId,
      summary: `A token's ${what}, where the chain itself holds it (a \`data:\` URI)`,
      params: z.object({ collection: collectionKey, tokenId }),
      mediaTypes,
    },
    async ({ params, query }, { db }) => {
      const collection = await referTo(db, query.chainId, params.collection);
      if (collection === null) return rejectUnknownCollection(query.chainId, params.collection);
      const { contractIds } = collection;
      // A slug means the contract in which the token exists, as on the token's own route.
      const only = collection.contractId ?? (contractIds.length === 1 ? contractIds[0] : undefined);
      const contractId = only ?? (await readToken(db, contractIds, params.tokenId))?.contractId;
      const token = { contractId: contractId ?? 0, tokenId: params.tokenId };
      const media = inlineMedia(await readTokenMedia(db, token, column));
      if (media !== null) return { data: null, media };
      const name = `token ${params.tokenId} in ${params.collection} on chain ${query.chainId}`;
      return reject("not_found", `No ${what} is stored inline of ${name}`);
    },
  );
};

const collectionRoute = (part: "image" | "banner") =>
  route(
    {
      ...shape,
      path: `/v1/collections/{collection}/${part}`,
      operationId: part === "image" ? "getCollectionImage" : "getCollectionBanner",
      summary: `A collection's ${part}, where the chain itself holds it (a \`data:\` URI)`,
      params: z.object({ collection: collectionKey }),
      mediaTypes,
    },
    async ({ params, query }, { db }) => {
      const found = await referTo(db, query.chainId, params.collection);
      if (found === null) return rejectUnknownCollection(query.chainId, params.collection);
      const media = inlineMedia(await readCollectionMedia(db, found.collectionId, part));
      if (media !== null) return { data: null, media };
      const name = `${params.collection} on chain ${query.chainId}`;
      return reject("not_found", `No ${part} is stored inline of ${name}`);
    },
  );

export const tokenImage = tokenRoute("image");
export const tokenAnimation = tokenRoute("animation");
export const tokenDocument = tokenRoute("metadata");
export const collectionImage = collectionRoute("image");
export const collectionBanner = collectionRoute("banner");

/** Types that a page may show, beside JSON; anything else, such as HTML, is sent as bytes. */
const shownType = /^(?:image|video|audio|model)\/[a-z0-9.+-]{1,60}$/;

function inlineMedia(uri: string | null): Media | null {
  const found = uri === null ? null : locate(uri);
  if (found === null || typeof found === "string" || found.kind !== "data") return null;
  const { mediaType } = found;
  const bytes = Buffer.from(found.bytes);
  const isShown = shownType.test(mediaType) || (mediaType === "application/json" && isJson(bytes));
  return { type: isShown ? mediaType : "application/octet-stream", bytes };
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}
