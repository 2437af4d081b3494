import { zeroAddress } from "viem";
import { z } from "zod";
import { type PartFields, partsOf, type RowFields } from "#api/http/page.ts";
import { type ListingViewContext, listingViewOf } from "#api/v1/orders/sides.ts";
import type { ChainId } from "#chains/index.ts";
import type { CollectionRef } from "#projections/collections/find-collection.ts";
import { burnAddresses } from "#projections/domain/burn-address.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import type { Moment } from "#projections/past/moment.ts";
import { readPastTokenDetails } from "#projections/past/read-past-token-details.ts";
import { isSellable, readToken, type TokenRow } from "#projections/tokens/read-token.ts";
import {
  allTokenParts,
  type DescribedToken,
  readTokenDetails,
  type TokenDetails,
  type TokenPart,
  type TokenParts,
} from "#projections/tokens/read-token-details.ts";
import { readRankingIsOutdated } from "#projections/traits/read-outdated-rankings.ts";
import {
  contractsOfReference,
  referTo,
  rejectUncoveredCollection,
  rejectUnknownCollection,
} from "../collection-reference.ts";
import { route } from "../context.ts";
import { type MediaView, mediaUri, mediaUrl, presentMedia, tokenPath } from "../media-links.ts";
import { atOfOrders, MomentMeta, momentMeta, momentOfFigures, momentView } from "../moment.ts";
import { presentTokenBid, TokenBid } from "../orders/bids.ts";
import { presentTokenListing, TokenListing } from "../orders/listings.ts";
import { chainId, chainRefusals, collectionKey, tokenId } from "../parameters.ts";
import { foldPast, pointRefusals } from "../point.ts";
import { LastSale, presentTrade } from "../sales.ts";
import { presentTokenUrls, tokenUrls } from "../urls.ts";
import {
  address,
  chainIdValue,
  collectionRef,
  exactUnits,
  nameStandard,
  standardName,
  uint256Text,
} from "../wire.ts";
import { MetadataState, presentMetadataState } from "./metadata-state.ts";

const attribute = z.object({
  trait_type: z.string(),
  value: z.union([z.string(), z.number(), z.boolean()]),
  display_type: z.string().optional(),
});

const rarity = z.object({
  rank: z.int().min(1).meta({
    description:
      "1 is the rarest: first by the number of traits that no other token has, then by score. Tokens equal in both share a rank.",
  }),
  score: z
    .number()
    .meta({ description: "Information content divided by the collection's entropy." }),
  of: z.int().min(1).meta({ description: "Tokens with a rank." }),
});

/** A token: ownership derived from its transfers, and its metadata. */
export const Token = z
  .object({
    chainId: chainIdValue,
    collection: collectionRef,
    contract: address,
    tokenId: uint256Text,
    name: z.string().nullable(),
    description: z.string().nullable(),
    standard: standardName,
    media: z.object({
      image: mediaUri,
      imageUrl: mediaUrl,
      animation: mediaUri,
      animationUrl: mediaUrl,
      contentType: z.string().nullable(),
    }),
    tokenUri: mediaUri,
    attributes: z.array(attribute).nullable().meta({
      description: "null until the metadata is fetched.",
    }),
    rarity: rarity.nullable().meta({
      description: "By the OpenRarity method; null for burned tokens and those without metadata.",
    }),
    owner: address.nullable().meta({ description: "null for ERC-1155 and burned tokens." }),
    holders: z.int().min(0),
    supply: z.int().min(0).meta({ description: "Units that exist." }),
    supplyExact: exactUnits,
    listing: TokenListing.nullable().meta({ description: "The cheapest active one." }),
    bestOffer: TokenBid.nullable().meta({
      description:
        "The active bid with the highest net, on the token or on its contract; null for a burned token.",
    }),
    lastSale: LastSale.nullable(),
    isBurned: z.boolean(),
    metadata: MetadataState.extend({
      status: MetadataState.shape.status.meta({
        description:
          "`failed` also where a token was burned before its metadata was fetched. One sent to 0x…dead still exists and is fetched.",
      }),
    }),
    urls: tokenUrls,
  })
  .meta({ id: "Token" });

/** Of a token, what its transfers say. */
export const TokenOwnership = Token.pick({
  chainId: true,
  collection: true,
  contract: true,
  tokenId: true,
  standard: true,
  owner: true,
  holders: true,
  supply: true,
  supplyExact: true,
  isBurned: true,
  urls: true,
}).meta({ id: "TokenOwnership" });

const fieldsOfParts: PartFields<TokenPart, keyof TokenShape> = [
  ["metadata", ["name", "description", "media", "tokenUri", "metadata"]],
  ["attributes", ["attributes"]],
  ["rank", ["rarity"]],
  ["listing", ["listing"]],
  ["bestBid", ["bestOffer"]],
  ["lastSale", ["lastSale"]],
];
type TokenShape = typeof Token.shape;

/** What has to be read for the fields. */
export function tokenPartsOf(fields: RowFields): TokenParts {
  return partsOf(fields, fieldsOfParts);
}

/** What the view of a token needs in addition to the token. */
type TokenContext = {
  collection: Pick<CollectionRef, "address" | "slug" | "name">;
  chainId: ChainId;
  view: ListingViewContext;
  media: MediaView;
};

export function presentToken(
  { row, listing, bestBid, lastSale }: TokenDetails,
  { collection, chainId, view, media }: TokenContext,
): z.output<typeof Token> {
  const inAnswer = { collection, chainId, siteUrl: view.siteUrl };
  return {
    ...presentOwnership(row, inAnswer),
    name: row.name,
    description: row.description,
    ...presentDocuments(row, chainId, media),
    attributes: row.attributes,
    rarity: presentRarity(row),
    listing: listing && presentTokenListing(listing, view),
    bestOffer: isSellable(row) ? bestBid && presentTokenBid(bestBid, view) : null,
    lastSale: lastSale && presentTrade(lastSale),
    metadata: metadataOf(row),
  };
}

/** Where a token's view is shown. */
type TokenPlace = Pick<TokenContext, "collection" | "chainId"> & { siteUrl: string };

export function presentOwnership(
  row: TokenRow,
  { collection: { address, slug, name }, chainId, siteUrl }: TokenPlace,
): z.output<typeof TokenOwnership> {
  // Below zero where the contract is indexed from a later block than its first transfer.
  const supply = row.supply > 0n ? row.supply : 0n;
  return {
    chainId,
    collection: { address, slug, name },
    contract: row.contract,
    tokenId: String(row.tokenId),
    standard: nameStandard(row.standard),
    owner: row.owner !== null && burnAddresses.has(row.owner) ? null : row.owner,
    holders: Number(row.holders),
    supply: Number(supply),
    supplyExact: String(supply),
    isBurned: row.isBurned,
    urls: presentTokenUrls({ siteUrl, chainId }, slug ?? address, row.contract, row.tokenId),
  };
}

function presentDocuments(row: DescribedToken, chainId: ChainId, view: MediaView) {
  const at = (part: string) => tokenPath(chainId, row.contract, row.tokenId, part);
  const image = presentMedia(row.image, at("image"), view);
  const animation = presentMedia(row.animation, at("animation"), view);
  return {
    media: {
      image: image.uri,
      imageUrl: image.url,
      animation: animation.uri,
      animationUrl: animation.url,
      contentType: row.contentType,
    },
    tokenUri: presentMedia(row.tokenUri, at("metadata"), view).uri,
  };
}

/** Burned before it was fetched, so that its contract does not know it any more. */
function isWithoutUri({ isBurned, standard, owner }: DescribedToken): boolean {
  return isBurned && (standard === 1155 || owner === zeroAddress);
}

function metadataOf(row: DescribedToken): z.output<typeof MetadataState> {
  const state = presentMetadataState({ ...row, at: row.describedAt });
  if (row.status !== null || !isWithoutUri(row)) return state;
  const issue = "the token was burned before its metadata was fetched";
  return { ...state, status: "failed", issue };
}

function presentRarity({ rank, score, ranked }: DescribedToken) {
  return rank === null || score === null || ranked === null ? null : { rank, score, of: ranked };
}

export const rejectUnknownToken = (
  chainId: ChainId,
  { collection, tokenId }: { collection: string; tokenId: bigint },
) => reject("not_found", `No token ${tokenId} in ${collection} on chain ${chainId}`);

export const token = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/tokens/{tokenId}",
    operationId: "getToken",
    tag: "Collections",
    summary:
      "One token. An address selects its contract; a slug the contract of the collection in which the token exists",
    params: z.object({ collection: collectionKey, tokenId }),
    query: z.object({
      chainId,
      at: atOfOrders(
        "Owner, orders and last sale as they were then. Documents are today's; `rarity` is null.",
      ),
    }),
    data: Token,
    meta: MomentMeta,
    refuses: { not_found: 404, ...chainRefusals, ...pointRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl, media, market, now }) => {
    const collection = await referTo(db, query.chainId, params.collection);
    if (collection === null) return rejectUnknownCollection(query.chainId, params.collection);
    if (!collection.isCovered) return rejectUncoveredCollection(query.chainId, collection);
    const moment = await momentOfFigures(db, query, now());
    if (isRejection(moment)) return moment;
    const found = await (moment === null
      ? readTokenNow(db, collection, params.tokenId, now())
      : foldPast(() => readTokenThen(db, collection, params.tokenId, moment)));
    if (found === null) return rejectUnknownToken(query.chainId, params);
    if (isRejection(found)) return found;
    const { details, isVolatile } = found;
    const view = { ...(await listingViewOf({ siteUrl, market })), ...momentView(moment) };
    const inline = { ...media, isList: false };
    const named = { collection, chainId: query.chainId, view, media: inline };
    return { data: presentToken(details, named), meta: momentMeta(moment), isVolatile };
  },
);

type FoundDetails = { details: TokenDetails; isVolatile: boolean };

async function readTokenNow(
  db: Database,
  collection: CollectionRef,
  tokenId: bigint,
  now: Date,
): Promise<FoundDetails | null> {
  const row = await readToken(db, contractsOfReference(collection), tokenId);
  if (row === null) return null;
  const { collectionId } = collection;
  const [[details], isVolatile] = await Promise.all([
    readTokenDetails(db, [row], { collectionId, parts: allTokenParts, now }),
    readRankingIsOutdated(db, collectionId),
  ]);
  if (details === undefined) throw new Error("the details of an existing token are missing");
  return { details, isVolatile };
}

async function readTokenThen(
  db: Database,
  collection: CollectionRef,
  tokenId: bigint,
  moment: Moment,
): Promise<FoundDetails | null> {
  const contractIds = contractsOfReference(collection);
  const details = await readPastTokenDetails(db, contractIds, tokenId, moment);
  return details && { details, isVolatile: !moment.point.isFinal };
}
