import { zeroAddress } from "viem";
import { z } from "zod";
import type { ChainId } from "../../../abis/deployments.ts";
import type { CollectionRef } from "../../../projections/reads/collections/find-collection.ts";
import type {
  DescribedToken,
  TokenDetails,
} from "../../../projections/reads/tokens/token-details.ts";
import { presentTokenBid, TokenBid } from "./bid.ts";
import type { OrderViewContext } from "./book-order.ts";
import { presentTokenListing, TokenListing } from "./listing.ts";
import { LastSale, presentTrade } from "./sale.ts";
import { presentTokenUrls, tokenUrls } from "./urls.ts";
import {
  address,
  chainIdValue,
  collectionRef,
  nameStandard,
  standardName,
  time,
  uint256Text,
} from "./wire.ts";

const attribute = z.object({
  trait_type: z.string(),
  value: z.union([z.string(), z.number(), z.boolean()]),
  display_type: z.string().optional(),
});

const rarity = z.object({
  rank: z
    .int()
    .min(1)
    .meta({ description: "1 is the rarest; tokens with equal scores share a rank." }),
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
      image: z.string().nullable(),
      animation: z.string().nullable(),
      contentType: z.string().nullable(),
    }),
    tokenUri: z.string().nullable(),
    attributes: z.array(attribute).nullable().meta({
      description: "null until the metadata is fetched.",
    }),
    rarity: rarity.nullable().meta({
      description: "By the OpenRarity method; null for burned tokens and those without metadata.",
    }),
    owner: address.nullable().meta({ description: "null for ERC-1155 and burned tokens." }),
    holders: z.int().min(0),
    supply: z.int().min(0).meta({ description: "Units that exist." }),
    listing: TokenListing.nullable().meta({ description: "The cheapest active one." }),
    bestOffer: TokenBid.nullable().meta({
      description: "The active bid with the highest net, on the token or on its contract.",
    }),
    lastSale: LastSale.nullable(),
    isBurned: z.boolean(),
    metadata: z.object({
      status: z.enum(["ok", "pending", "failed"]),
      updatedAt: time.nullable(),
    }),
    urls: tokenUrls,
  })
  .meta({ id: "Token" });

/** What the view of a token needs in addition to the token. */
export type TokenContext = {
  collection: Pick<CollectionRef, "address" | "slug" | "name">;
  chainId: ChainId;
  view: OrderViewContext;
};

export function presentToken(
  { row, listing, bestBid, lastSale }: TokenDetails,
  { collection, chainId, view }: TokenContext,
): z.output<typeof Token> {
  const { address, slug, name } = collection;
  const site = { siteUrl: view.siteUrl, chainId };
  return {
    chainId,
    collection: { address, slug, name },
    contract: row.contract,
    tokenId: String(row.tokenId),
    name: row.name,
    description: row.description,
    standard: nameStandard(row.standard),
    media: { image: row.image, animation: row.animation, contentType: row.contentType },
    tokenUri: row.tokenUri,
    attributes: row.attributes,
    rarity: presentRarity(row),
    owner: row.owner === zeroAddress ? null : row.owner,
    holders: Number(row.holders),
    // Below zero where the contract is indexed from a later block than its first transfer.
    supply: Math.max(0, Number(row.supply)),
    listing: listing && presentTokenListing(listing, view),
    bestOffer: bestBid && presentTokenBid(bestBid, view),
    lastSale: lastSale && presentTrade(lastSale),
    isBurned: row.isBurned,
    metadata: {
      status: row.status ?? "pending",
      updatedAt: row.describedAt?.toISOString() ?? null,
    },
    urls: presentTokenUrls(site, slug ?? address, row.contract, row.tokenId),
  };
}

function presentRarity({ rank, score, ranked }: DescribedToken) {
  return rank === null || score === null || ranked === null ? null : { rank, score, of: ranked };
}
