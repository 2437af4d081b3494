import type { Hex } from "viem";
import { z } from "zod";
import { type ChainId, defaultChain } from "#chains/index.ts";
import type {
  CollectionMatch,
  OrderMatch,
  SaleMatch,
  TokenMatch,
  TransactionMatch,
} from "#projections/collections/read-search.ts";
import { listingMarketplaces } from "#projections/domain/marketplaces.ts";
import { orderStatuses } from "#projections/domain/orders/order-status.ts";
import { listingId, orderId } from "../orders/order-id.ts";
import { floor } from "./collections/collection-stats.ts";
import {
  collectionPath,
  type MediaLinks,
  mediaUrl,
  presentMedia,
  tokenPath,
} from "./media-links.ts";
import {
  collectionUrls,
  presentBidUrl,
  presentCollectionUrls,
  presentListingUrl,
  presentMakerUrl,
  presentSaleUrl,
  presentTokenUrls,
  tokenUrls,
} from "./urls.ts";
import {
  address,
  chainIdValue,
  hash,
  nameStandard,
  standardName,
  time,
  uint256Text,
} from "./wire.ts";

type Floor = z.output<typeof floor>;
type Found = {
  collections: readonly (CollectionMatch & { floor: Floor | null })[];
  tokens: readonly TokenMatch[];
  wallets: readonly { address: Hex; ensName: string | null }[];
  transactions: readonly TransactionMatch[];
  orders: readonly OrderMatch[];
  sales: readonly SaleMatch[];
};
type View = { siteUrl: string; prefix: string; media: MediaLinks };

export function presentFound(found: Found, view: View): z.output<typeof SearchResult> {
  const { siteUrl } = view;
  return {
    collections: found.collections.map((row) => presentCollection(row, view)),
    tokens: found.tokens.map((row) => presentToken(row, view)),
    wallets: found.wallets.map((wallet) => ({
      ...wallet,
      urls: { wallet: presentMakerUrl({ siteUrl, chainId: defaultChain.id }, wallet.address) },
    })),
    transactions: found.transactions.map(({ chainId, hash, blockNumber, timestamp, sales }) => ({
      chainId: chainId as ChainId,
      txHash: hash,
      blockNumber: Number(blockNumber),
      timestamp: timestamp.toISOString(),
      sales: Number(sales),
    })),
    orders: found.orders.map((row) => presentOrder(row, view)),
    sales: found.sales.map(({ chainId, saleId, transactionHash, timestamp }) => ({
      chainId: chainId as ChainId,
      saleId,
      txHash: transactionHash,
      timestamp: timestamp.toISOString(),
      urls: { sale: presentSaleUrl({ siteUrl, chainId }, saleId) },
    })),
  };
}

function presentCollection(row: Found["collections"][number], { siteUrl, media }: View) {
  const { address, slug, name, symbol, verified, sameNameAs, floor } = row;
  const chainId = row.chainId as ChainId;
  const path = collectionPath(chainId, address, "image");
  return {
    chainId,
    address,
    slug,
    name,
    symbol,
    verified,
    sameNameAs: sameNameAs && { ...sameNameAs, chainId: sameNameAs.chainId as ChainId },
    standard: row.standard && nameStandard(row.standard),
    holders: Number(row.holders),
    sales: Number(row.sales),
    floor,
    imageUrl: presentMedia(row.image, path, { ...media, isList: true }).url,
    urls: presentCollectionUrls({ siteUrl, chainId }, slug),
  };
}

function presentToken(row: TokenMatch, { siteUrl, media }: View) {
  const { contract, tokenId, name, verified } = row;
  const chainId = row.chainId as ChainId;
  const { collectionAddress, collectionSlug: slug, collectionName } = row;
  const path = tokenPath(chainId, contract, tokenId, "image");
  return {
    chainId,
    contract,
    name,
    tokenId: String(tokenId),
    collection: { address: collectionAddress, slug, name: collectionName, verified },
    imageUrl: presentMedia(row.image, path, { ...media, isList: true }).url,
    urls: presentTokenUrls({ siteUrl, chainId }, slug ?? collectionAddress, contract, tokenId),
  };
}

function presentOrder(row: OrderMatch, { siteUrl, prefix }: View) {
  const { marketplace, orderHash, maker, status } = row;
  const chainId = row.chainId as ChainId;
  const site = { siteUrl, chainId };
  const isBid = marketplace === null;
  const id = isBid ? orderId(prefix, orderHash) : listingId(prefix, { marketplace, orderHash });
  return {
    chainId,
    id,
    orderHash,
    maker,
    status,
    side: isBid ? ("bid" as const) : ("listing" as const),
    marketplace: marketplace ?? ("native" as const),
    urls: {
      ...(isBid ? { bid: presentBidUrl(site, id) } : { listing: presentListingUrl(site, id) }),
      maker: presentMakerUrl(site, maker),
    },
  };
}

const verified = z.boolean().meta({
  description: "Of the collection: set by the operator. Names are not unique; addresses are.",
});

const FoundCollection = z
  .object({
    chainId: chainIdValue,
    address,
    slug: z.string(),
    name: z.string().nullable(),
    symbol: z.string().nullable(),
    standard: standardName.nullable(),
    verified,
    sameNameAs: z
      .object({ chainId: chainIdValue, address, slug: z.string(), name: z.string().nullable() })
      .nullable()
      .meta({
        description:
          "A verified collection of the same name, or one that looks like it (letters of other scripts, digits for letters, marks), spacing, case and punctuation aside, when this one is not verified.",
      }),
    holders: z.int().min(0),
    sales: z.int().min(0).meta({ description: "Of all time." }),
    floor: floor.nullable(),
    imageUrl: mediaUrl,
    urls: collectionUrls,
  })
  .meta({ id: "FoundCollection" });

const FoundToken = z
  .object({
    chainId: chainIdValue,
    contract: address,
    tokenId: uint256Text,
    name: z.string().nullable(),
    collection: z.object({
      address,
      slug: z.string().nullable(),
      name: z.string().nullable(),
      verified,
    }),
    imageUrl: mediaUrl,
    urls: tokenUrls,
  })
  .meta({ id: "FoundToken" });

const FoundWallet = z
  .object({
    address,
    ensName: z.string().nullable().meta({ description: "The name that was searched for." }),
    urls: z.object({ wallet: z.url() }),
  })
  .meta({ id: "FoundWallet" });

const FoundTransaction = z
  .object({
    chainId: chainIdValue,
    txHash: hash,
    blockNumber: z.int().min(0),
    timestamp: time,
    sales: z.int().min(0),
  })
  .meta({ id: "FoundTransaction" });

const FoundOrder = z
  .object({
    chainId: chainIdValue,
    side: z.enum(["listing", "bid"]),
    id: z.string().meta({ description: "`askId` of a listing, `bidId` of a bid." }),
    orderHash: hash,
    marketplace: z.enum(listingMarketplaces),
    maker: address,
    status: z.enum(orderStatuses),
    urls: z.object({ listing: z.url().optional(), bid: z.url().optional(), maker: z.url() }),
  })
  .meta({ id: "FoundOrder" });

const FoundSale = z
  .object({
    chainId: chainIdValue,
    saleId: hash,
    txHash: hash,
    timestamp: time,
    urls: z.object({ sale: z.url() }),
  })
  .meta({ id: "FoundSale" });

/** What a text may mean, by kind. */
export const SearchResult = z
  .object({
    collections: z.array(FoundCollection).meta({
      description: "Verified ones first, then exact names, then by sales and holders.",
    }),
    tokens: z.array(FoundToken),
    wallets: z.array(FoundWallet),
    transactions: z.array(FoundTransaction).meta({
      description: "With at least one event that is indexed here.",
    }),
    orders: z.array(FoundOrder),
    sales: z.array(FoundSale),
  })
  .meta({ id: "SearchResult" });
