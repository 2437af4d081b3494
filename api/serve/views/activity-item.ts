import { zeroAddress } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import type { ActivityRow, SubmittedOrderRow } from "#projections/activity/read-activity.ts";
import type { EventRow } from "#projections/activity/read-events.ts";
import { activityTypes } from "#projections/activity/read-event-scans.ts";
import { orderId } from "#api/orders/order-id.ts";
import { displayPrice } from "#jobs/prices/price.ts";
import { displayAmount, presentCurrency } from "./money.ts";
import type { OrderViewContext } from "./orders/book-order.ts";
import { Sale } from "./sale.ts";
import { presentBidUrl, presentCollectionUrls, presentListingUrl, presentMakerUrl, presentSaleUrl, presentTokenUrls } from "./urls.ts";
import { address, chainIdValue, collectionRef, currency, hash, priceText, time, uint256Text } from "./wire.ts";

/** Something that happened to a token or an order. */
export const ActivityItem = z
  .object({
    id: z.string().meta({ description: "Tells it from every other." }),
    type: z.enum(activityTypes),
    chainId: chainIdValue,
    collection: collectionRef.nullable().meta({
      description:
        "null for cancels of orders that were not taken in here, or of all of a maker's.",
    }),
    contract: address.nullable(),
    tokenId: uint256Text.nullable().meta({
      description: "null for offers on a whole collection. Of ids minted as a range, the first.",
    }),
    quantity: uint256Text.nullable().meta({ description: "Units; ids of a range." }),
    from: address.nullable().meta({ description: "Giver, seller, or the order's maker." }),
    to: address.nullable().meta({ description: "Receiver or buyer." }),
    price: z.number().nullable().meta({ description: priceText }),
    priceWei: uint256Text.nullable().meta({ description: "Per unit." }),
    currency: currency.nullable(),
    usd: z
      .number()
      .nullable()
      .meta({ description: "Of a sale: `price` at the coin's last price before it." }),
    marketplace: z.string().nullable(),
    protocol: Sale.shape.protocol.nullable().meta({ description: "Of a sale: the exchange." }),
    via: Sale.shape.via,
    washTrade: Sale.shape.washTrade,
    saleId: hash.nullable(),
    orderId: z.string().nullable().meta({ description: "Of a listing or an offer taken in here." }),
    orderHash: hash.nullable().meta({ description: "null for a cancel of all of a maker's." }),
    expiresAt: time.nullable(),
    txHash: hash.nullable().meta({ description: "null for orders: they are on no chain." }),
    logIndex: z.int().min(0).nullable(),
    blockNumber: z.int().min(0).nullable(),
    blockHash: hash.nullable(),
    timestamp: time,
    urls: z.object({
      collection: z.url().optional(),
      token: z.url().optional(),
      sale: z.url().optional(),
      listing: z.url().optional(),
      bid: z.url().optional(),
      maker: z.url().optional(),
    }),
  })
  .meta({ id: "ActivityItem" });

type Item = z.output<typeof ActivityItem>;
type ActivityContext = OrderViewContext & { chainId: ChainId };

export function presentActivity(row: ActivityRow, site: ActivityContext): Item {
  return "event" in row ? presentEvent(row.event, site) : presentOrder(row.order, site);
}

function presentEvent(row: EventRow, site: ActivityContext): Item {
  const { priceWei, currency: paid, saleId } = row;
  return {
    id: `${row.transactionHash}-${row.logIndex}-${row.subIndex}`,
    type: row.type,
    chainId: site.chainId,
    ...presentSubject(row),
    from: row.from,
    to: row.to,
    price: priceWei === null ? null : displayAmount(priceWei),
    priceWei: priceWei === null ? null : String(priceWei),
    currency: paid === null ? null : presentCurrency(site.chainId, paid),
    usd: row.priceUsdE8 === null ? null : displayPrice(row.priceUsdE8),
    marketplace: row.marketplace,
    protocol: presentProtocol(row),
    via: row.via,
    washTrade: row.washRule && { rule: row.washRule },
    saleId: saleId,
    orderId: null,
    orderHash: row.orderHash,
    expiresAt: null,
    txHash: row.transactionHash,
    logIndex: row.logIndex,
    blockNumber: Number(row.blockNumber),
    blockHash: row.blockHash,
    timestamp: row.at.toISOString(),
    urls: {
      ...subjectUrls(row, site),
      ...(saleId !== null && { sale: presentSaleUrl(site, saleId) }),
    },
  };
}

function presentProtocol({ protocol: name, protocolVersion: version, exchange }: EventRow) {
  if (name === null || version === null || exchange === null) return null;
  return { name, version, address: exchange };
}

function presentOrder(row: SubmittedOrderRow, site: ActivityContext): Item {
  const id = orderId(site.prefix, row.orderHash);
  const isListing = row.type === "listing";
  return {
    id,
    type: row.type,
    chainId: site.chainId,
    ...presentSubject(row),
    from: row.maker,
    to: null,
    price: displayAmount(row.priceWei),
    priceWei: String(row.priceWei),
    currency: presentCurrency(site.chainId, row.currency ?? zeroAddress),
    usd: null,
    marketplace: "native",
    protocol: null,
    via: null,
    washTrade: null,
    saleId: null,
    orderId: id,
    orderHash: row.orderHash,
    expiresAt: new Date(Number(row.endTime) * 1000).toISOString(),
    txHash: null,
    logIndex: null,
    blockNumber: null,
    blockHash: null,
    timestamp: row.at.toISOString(),
    urls: {
      ...subjectUrls(row, site),
      ...(isListing ? { listing: presentListingUrl(site, id) } : { bid: presentBidUrl(site, id) }),
      maker: presentMakerUrl(site, row.maker),
    },
  };
}

type Subject = Pick<
  EventRow,
  "contract" | "collectionAddress" | "collectionSlug" | "collectionName" | "tokenId" | "quantity"
>;

function presentSubject(row: Subject) {
  const { collectionAddress, collectionSlug: slug, collectionName: name, tokenId, quantity } = row;
  return {
    collection: collectionAddress === null ? null : { address: collectionAddress, slug, name },
    contract: row.contract,
    tokenId: tokenId === null ? null : String(tokenId),
    quantity: quantity === null ? null : String(quantity),
  };
}

function subjectUrls(
  { contract, collectionAddress, collectionSlug, tokenId }: Subject,
  site: ActivityContext,
) {
  const collection = collectionSlug ?? collectionAddress;
  if (contract === null || collection === null) return {};
  if (tokenId === null) return presentCollectionUrls(site, collection);
  return presentTokenUrls(site, collection, contract, tokenId);
}
