import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { type SalePart, type SaleParts, type SaleRow, washRules } from "#projections/sales/read-sale.ts";
import type { TokenSaleRow } from "#projections/tokens/read-token-details.ts";
import { displayPrice } from "#jobs/prices/price.ts";
import { type PartFields, partsOf, type RowFields } from "#api/http/page.ts";
import { displayAmount, presentCurrency } from "./money.ts";
import { presentSaleUrl, presentTokenUrls, saleUrls } from "./urls.ts";
import { address, chainIdValue, collectionRef, currency, exactUnits, hash, priceText, time, uint256Text } from "./wire.ts";

const fee = z.object({
  recipient: address,
  wei: uint256Text,
  bps: z.int().min(0),
  kind: z.enum(["service", "royalty", "other"]),
});

/** One NFT sold on any marketplace. */
export const Sale = z
  .object({
    saleId: hash.meta({ description: "Stable if the transaction is mined again after a reorg." }),
    chainId: chainIdValue,
    collection: collectionRef,
    contract: address,
    tokenId: uint256Text,
    quantity: z.int().min(1),
    quantityExact: exactUnits,
    price: z.number().meta({ description: priceText }),
    priceWei: uint256Text.meta({ description: "Per unit." }),
    totalWei: uint256Text,
    currency,
    usd: z
      .number()
      .nullable()
      .meta({ description: "`price` at the coin's last price before the sale." }),
    seller: address,
    buyer: address.meta({ description: "Who has the token after the transaction." }),
    via: address
      .nullable()
      .meta({ description: "The router or aggregator that took the trade for the buyer." }),
    washTrade: z
      .object({ rule: z.enum(washRules) })
      .nullable()
      .meta({ description: "Set if it looks like a wash trade, with the rule that says so." }),
    side: z.enum(["ask", "bid"]).meta({ description: "Which side's order was filled." }),
    marketplace: z.string().meta({ description: "`unknown` if it cannot be attributed." }),
    protocol: z.object({ name: z.string(), version: z.string(), address }),
    orderHash: hash.nullable(),
    fees: z.array(fee),
    bundle: z.object({ size: z.int(), totalWei: uint256Text }).nullable(),
    txHash: hash,
    logIndex: z.int().min(0),
    blockNumber: z.int().min(0),
    blockHash: hash,
    timestamp: time,
    urls: saleUrls,
  })
  .meta({ id: "Sale" });

/** The last sale, as part of a token. */
export const LastSale = Sale.pick({
  saleId: true,
  quantity: true,
  quantityExact: true,
  price: true,
  priceWei: true,
  totalWei: true,
  currency: true,
  usd: true,
  seller: true,
  buyer: true,
  via: true,
  washTrade: true,
  marketplace: true,
  protocol: true,
  txHash: true,
  timestamp: true,
}).meta({ id: "LastSale" });

/** What has to be read for the fields. */
export function salePartsOf(fields: RowFields): SaleParts {
  return partsOf(fields, fieldsOfParts);
}
const fieldsOfParts: PartFields<SalePart, keyof typeof Sale.shape> = [
  ["collection", ["collection", "urls"]],
  ["usd", ["usd"]],
  ["washRule", ["washTrade"]],
];

export function presentSale(row: SaleRow, siteUrl: string): z.output<typeof Sale> {
  // Rows are of served chains only.
  const chainId = row.chainId as ChainId;
  const site = { siteUrl, chainId };
  const { saleId, contract, tokenId } = row;
  return {
    ...presentTrade(row),
    chainId,
    collection: {
      address: row.collectionAddress,
      slug: row.collectionSlug,
      name: row.collectionName,
    },
    contract,
    tokenId: String(tokenId),
    side: row.side,
    orderHash: row.orderHash,
    fees: row.fees,
    bundle: presentBundle(row),
    logIndex: row.logIndex,
    blockNumber: Number(row.blockNumber),
    blockHash: row.blockHash,
    urls: {
      sale: presentSaleUrl(site, saleId),
      ...presentTokenUrls(site, row.collectionSlug ?? row.collectionAddress, contract, tokenId),
    },
  };
}

export function presentTrade(row: TokenSaleRow): z.output<typeof LastSale> {
  return {
    saleId: row.saleId,
    quantity: Number(row.quantity),
    quantityExact: String(row.quantity),
    price: displayAmount(row.priceWei),
    priceWei: String(row.priceWei),
    totalWei: String(row.totalWei),
    currency: presentCurrency(row.chainId as ChainId, row.currency),
    usd: row.priceUsdE8 === null ? null : displayPrice(row.priceUsdE8),
    seller: row.seller,
    buyer: row.buyer,
    via: row.via,
    washTrade: row.washRule && { rule: row.washRule },
    marketplace: row.marketplace,
    protocol: { name: row.protocol, version: row.protocolVersion, address: row.exchange },
    txHash: row.transactionHash,
    timestamp: row.timestamp.toISOString(),
  };
}

function presentBundle({ bundleSize, bundleTotalWei }: SaleRow) {
  if (bundleSize === null || bundleTotalWei === null) return null;
  return { size: bundleSize, totalWei: String(bundleTotalWei) };
}
