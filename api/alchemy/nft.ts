import { z } from "zod";
import type { Collection } from "../v1/collections/collections.ts";
import type { Token } from "../v1/collections/token.ts";

const text = z.string().nullable();
const number = z.number().nullable();

const openSeaMetadata = z.object({
  floorPrice: number,
  collectionName: text,
  collectionSlug: text,
  safelistRequestStatus: z.enum(["verified", "not_requested"]).nullable(),
  imageUrl: text,
  bannerImageUrl: text,
  description: text,
  externalUrl: text,
  twitterUsername: text,
  discordUrl: text,
  lastIngestedAt: text,
});

const tokenType = z.enum(["ERC721", "ERC1155", "UNKNOWN"]);

/** A contract, with what is known of its collection. */
export const NftContract = z.object({
  address: z.string(),
  name: text,
  symbol: text,
  totalSupply: text,
  tokenType,
  contractDeployer: text,
  deployedBlockNumber: number,
  openSeaMetadata,
});

export const NftImage = z.object({
  cachedUrl: text,
  thumbnailUrl: text,
  pngUrl: text,
  contentType: text,
  size: number,
  originalUrl: text,
});

export const noImage: z.output<typeof NftImage> = {
  cachedUrl: null,
  thumbnailUrl: null,
  pngUrl: null,
  contentType: null,
  size: null,
  originalUrl: null,
};

const attribute = z.object({
  trait_type: z.string(),
  value: z.union([z.string(), z.number(), z.boolean()]),
  display_type: z.string().optional(),
});

/** A token with its metadata. */
export const AlchemyNft = z.object({
  contract: NftContract.extend({
    isSpam: z.null(),
    spamClassifications: z.array(z.string()),
  }),
  tokenId: z.string(),
  tokenType,
  name: text,
  description: text,
  tokenUri: text,
  image: NftImage,
  animation: NftImage.omit({ thumbnailUrl: true, pngUrl: true }),
  raw: z.object({
    tokenUri: text,
    metadata: z.object({
      name: text,
      description: text,
      image: text,
      animation_url: text,
      attributes: z.array(attribute),
    }),
    error: text,
  }),
  collection: z
    .object({
      name: text,
      slug: text,
      externalUrl: text,
      bannerImageUrl: text,
    })
    .nullable(),
  mint: z.object({
    mintAddress: text,
    blockNumber: number,
    timestamp: text,
    transactionHash: text,
  }),
  timeLastUpdated: text,
});

/** Without metadata. */
export const BareNft = z.object({ contractAddress: z.string(), tokenId: z.string() });

type ContractView = z.output<typeof NftContract>;
type CollectionOfV1 = z.output<typeof Collection>;
type TokenOfV1 = z.output<typeof Token>;

const typeOf = (standard: "erc721" | "erc1155" | null | undefined) => {
  if (standard === "erc721") return "ERC721";
  return standard === "erc1155" ? "ERC1155" : "UNKNOWN";
};

/** One of the contracts of a collection; the figures are the collection's. */
export function presentContract(collection: CollectionOfV1, address: string): ContractView {
  const { name, symbol, contracts, stats, slug, description, media, links, updatedAt } = collection;
  const own = contracts.find((one) => one.address === address);
  return {
    address,
    name,
    symbol,
    totalSupply: stats.supplyExact,
    tokenType: typeOf(own?.standard ?? collection.standard),
    contractDeployer: null,
    deployedBlockNumber: null,
    openSeaMetadata: {
      floorPrice: stats.floor?.price ?? null,
      collectionName: name,
      collectionSlug: slug,
      safelistRequestStatus: collection.verified ? "verified" : "not_requested",
      imageUrl: media.imageUrl,
      bannerImageUrl: media.bannerUrl,
      description,
      externalUrl: links.website,
      twitterUsername: links.twitter === null ? null : nameIn(links.twitter),
      discordUrl: links.discord,
      lastIngestedAt: updatedAt,
    },
  };
}

/** The last part of the path. */
function nameIn(url: string): string | null {
  const { pathname } = new URL(url);
  return pathname.split("/").findLast((part) => part !== "") ?? null;
}

const unknownContract: Omit<ContractView, "address"> = {
  name: null,
  symbol: null,
  totalSupply: null,
  tokenType: "UNKNOWN",
  contractDeployer: null,
  deployedBlockNumber: null,
  openSeaMetadata: {
    floorPrice: null,
    collectionName: null,
    collectionSlug: null,
    safelistRequestStatus: null,
    imageUrl: null,
    bannerImageUrl: null,
    description: null,
    externalUrl: null,
    twitterUsername: null,
    discordUrl: null,
    lastIngestedAt: null,
  },
};

/** A contract that is not covered: nothing is known of it. */
export const presentUnknownContract = (address: string): ContractView => ({
  address,
  ...unknownContract,
});

/** `contract`: with the figures of its collection; without it what the token itself tells. */
export function presentNft(token: TokenOfV1, contract?: ContractView): z.output<typeof AlchemyNft> {
  const { media, metadata, collection, tokenUri, name, description } = token;
  return {
    contract: {
      ...(contract ?? contractOf(token)),
      isSpam: null,
      spamClassifications: [],
    },
    tokenId: token.tokenId,
    tokenType: typeOf(token.standard),
    name,
    description,
    tokenUri,
    image: { ...mediaOf(media.imageUrl, media.image), thumbnailUrl: null, pngUrl: null },
    animation: mediaOf(media.animationUrl, media.animation),
    raw: {
      tokenUri,
      metadata: {
        name,
        description,
        image: media.image,
        animation_url: media.animation,
        attributes: token.attributes ?? [],
      },
      error: metadata.status === "failed" ? metadata.issue : null,
    },
    collection: {
      name: collection.name,
      slug: collection.slug,
      externalUrl: null,
      bannerImageUrl: null,
    },
    mint: { mintAddress: null, blockNumber: null, timestamp: null, transactionHash: null },
    timeLastUpdated: metadata.updatedAt,
  };
}

const mediaOf = (cachedUrl: string | null, originalUrl: string | null) => ({
  cachedUrl,
  contentType: null,
  size: null,
  originalUrl,
});

function contractOf({ contract, standard, collection }: TokenOfV1): ContractView {
  const { openSeaMetadata: unknown, ...rest } = unknownContract;
  const { name, slug } = collection;
  const openSeaMetadata = { ...unknown, collectionName: name, collectionSlug: slug };
  return { ...rest, address: contract, name, tokenType: typeOf(standard), openSeaMetadata };
}
