import type { Hex } from "viem";
import type { z } from "zod";
import { type ChainId, defaultChain } from "#chains/index.ts";
import type { CollectionMatch, OrderMatch, SaleMatch, TransactionMatch, TokenMatch } from "#projections/collections/read-search.ts";
import { listingId, orderId } from "#api/orders/order-id.ts";
import { collectionPath, type MediaLinks, presentMedia, tokenPath } from "./media.ts";
import type { SearchResult } from "./search-schema.ts";
import { presentBidUrl, presentCollectionUrls, presentListingUrl, presentMakerUrl, presentSaleUrl, presentTokenUrls } from "./urls.ts";
import { nameStandard } from "./wire.ts";

type Found = {
  collections: readonly CollectionMatch[];
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

function presentCollection(row: CollectionMatch, { siteUrl, media }: View) {
  const { address, slug, name, symbol, verified, sameNameAs } = row;
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
