import { zeroAddress } from "viem";
import { z } from "zod";
import type { ChainId } from "../../../abis/deployments.ts";
import type { BidRow } from "../../../projections/bids/read.ts";
import type { CollectionRef } from "../../../projections/collections/read-reference.ts";
import type { ListingRow } from "../../../projections/listings/read.ts";
import type { TokenRow } from "../../../projections/ownership/read.ts";
import type { SaleRow } from "../../../projections/sales/read.ts";
import { presentTokenBid, TokenBid } from "./bid.ts";
import type { OrderShop } from "./book-order.ts";
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

/** An id in a contract: ownership as its transfers tell it, and what its metadata says. */
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
    attributes: z.array(attribute).nullable(),
    rarity: z.object({ rank: z.int(), score: z.number(), of: z.int() }).nullable(),
    owner: address.nullable().meta({ description: "null for ERC-1155 and burned tokens." }),
    holders: z.int().min(0),
    supply: z.int().min(0).meta({ description: "Units that exist." }),
    listing: TokenListing.nullable().meta({ description: "The cheapest active one." }),
    bestOffer: TokenBid.nullable().meta({
      description: "The active bid that nets most, on the token or on its contract.",
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

type Parts = {
  row: TokenRow;
  collection: CollectionRef;
  trade: { lastSale: SaleRow | null; listing: ListingRow | null; bestBid: BidRow | null };
  chainId: ChainId;
  shop: OrderShop;
};

/** Metadata is not fetched yet: it is pending for every token. */
export function presentToken(parts: Parts): z.output<typeof Token> {
  const { row, collection, trade, chainId, shop } = parts;
  const { address, slug, name } = collection;
  return {
    chainId,
    collection: { address, slug, name },
    contract: row.contract,
    tokenId: String(row.tokenId),
    name: null,
    description: null,
    standard: nameStandard(row.standard),
    media: { image: null, animation: null, contentType: null },
    tokenUri: null,
    attributes: null,
    rarity: null,
    owner: row.owner === zeroAddress ? null : row.owner,
    holders: Number(row.holders),
    supply: Number(row.supply),
    listing: trade.listing && presentTokenListing(trade.listing, shop),
    bestOffer: trade.bestBid && presentTokenBid(trade.bestBid, shop),
    lastSale: trade.lastSale && presentTrade(trade.lastSale),
    isBurned: row.isBurned,
    metadata: { status: "pending", updatedAt: null },
    urls: presentTokenUrls(
      { siteUrl: shop.siteUrl, chainId },
      slug ?? address,
      row.contract,
      row.tokenId,
    ),
  };
}
