import { type Address, type Hex, zeroAddress } from "viem";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { type PartFields, partsOf, type RowFields } from "#api/http/page.ts";
import { isBuyingPaused, type Market } from "#api/orders/market.ts";
import { rejectUnknownOrder } from "#api/orders/order-elsewhere.ts";
import { askId, bidId } from "#api/v1/parameters.ts";
import {
  address,
  chainIdValue,
  collectionRef,
  currency,
  displayAmount,
  exactUnits,
  hash,
  nameStandard,
  presentCurrency,
  standardName,
  time,
  uint256Text,
} from "#api/v1/wire.ts";
import type { ChainId } from "#chains/index.ts";
import { displayPrice } from "#jobs/prices/price.ts";
import { orderStatuses } from "#projections/domain/orders/order-status.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { type BidRow, readBid } from "#projections/orders/read-bids.ts";
import { type ListingRow, readListing } from "#projections/orders/read-listings.ts";
import type { OrderPart, OrderParts, OrderRow } from "#projections/orders/read-orders.ts";

/** What differs between listings and bids in the endpoints that both have. */
export type Side<Row extends OrderRow = OrderRow> = {
  readonly side: "ask" | "bid";
  /** In operation ids. */
  readonly name: "Ask" | "Bid";
  /** Paths begin with `/v1/orders/asks` or `/v1/orders/bids`. */
  readonly path: string;
  readonly idName: "askId" | "bidId";
  readonly idParameter: typeof askId;
  /** In descriptions. */
  readonly noun: string;
  /** Pauses submissions of this side. */
  readonly feature: "listings" | "offers";
  read(db: Database, chainId: ChainId, orderHash: Hex, now: Date): Promise<Row | null>;
};

export const asks: Side<ListingRow> = {
  side: "ask",
  name: "Ask",
  path: "/v1/orders/asks",
  idName: "askId",
  idParameter: askId,
  noun: "listing",
  feature: "listings",
  read: readListing,
};

export const bids: Side<BidRow> = {
  side: "bid",
  name: "Bid",
  path: "/v1/orders/bids",
  idName: "bidId",
  idParameter: bidId,
  noun: "bid",
  feature: "offers",
  read: readBid,
};

type OrderName = { readonly chainId: ChainId; readonly id: string; readonly orderHash: Hex | null };

/** Refuses an id that the chain does not have. */
export const orderNotFound = <Row extends OrderRow>(
  { noun, read }: Side<Row>,
  asked: OrderName,
  db: Database,
  now: () => Date,
): Promise<Rejection<"not_found">> =>
  rejectUnknownOrder({ noun, ...asked }, (chainId, hash) => read(db, chainId, hash, now()));

/** The path parameter that names an order. */
export function idParams({ idName, idParameter }: Side) {
  return z.object({ [idName]: idParameter });
}

/** The value of that parameter. */
export function idIn({ idName }: Side, params: Readonly<Record<string, string>>): string {
  return params[idName] ?? "";
}

export const orderStatusField = z.enum(orderStatuses).meta({ id: "OrderStatus" });

const fee = z
  .object({
    recipient: address,
    wei: uint256Text.meta({ description: "Per unit, out of the price." }),
    bps: z.int().min(0),
    kind: z.enum(["service", "royalty", "other"]),
  })
  .meta({ id: "OrderFee" });

/** Fields of both listings and bids. */
export const bookOrderFields = {
  chainId: chainIdValue,
  orderHash: hash,
  status: orderStatusField,
  maker: address,
  collection: collectionRef,
  contract: address,
  standard: standardName,
  price: z.number().meta({ description: "Per unit, in the currency." }),
  priceWei: uint256Text.meta({ description: "Per unit." }),
  currency,
  usd: z.number().nullable().meta({ description: "`price` at the current price of the coin." }),
  quantity: z.int().min(1).meta({ description: "Units of the signed order." }),
  quantityExact: exactUnits,
  quantityFilled: z.int().min(0).meta({ description: "Units filled so far." }),
  quantityFilledExact: exactUnits,
  quantityRemaining: z.int().min(0).meta({ description: "Units not filled yet." }),
  quantityRemainingExact: exactUnits,
  startsAt: time.meta({ description: "`startTime` of the signed order." }),
  expiresAt: time.meta({ description: "`endTime` of the signed order." }),
  createdAt: time.meta({ description: "When the service first saw it." }),
  updatedAt: time.meta({ description: "When its state last changed." }),
  feeBps: z.int().min(0).meta({ description: "Service fee, in basis points of `price`." }),
  royaltyBps: z.int().min(0).meta({ description: "Royalty, in basis points of `price`." }),
  fees: z.array(fee),
  protocol: z.object({ name: z.string(), version: z.string(), address }),
};

const BookOrder = z.object(bookOrderFields);

/** What has to be read for the fields. */
export function orderPartsOf(fields: RowFields): OrderParts {
  return partsOf(fields, fieldsOfParts);
}
const fieldsOfParts: PartFields<OrderPart> = [
  ["collection", ["collection", "urls"]],
  ["usd", ["usd"]],
  ["fees", ["fees", "feeBps", "royaltyBps"]],
];

/** What the views of orders need in addition to the row. */
export type OrderViewContext = { siteUrl: string; prefix: string };

/** What the views of listings need: what is shown of them depends on whether buying is paused. */
export type ListingViewContext = OrderViewContext & { isBuyingPaused: boolean };

export async function listingViewOf({
  siteUrl,
  market,
}: {
  siteUrl: string;
  market: Pick<Market, "prefix" | "isPaused">;
}): Promise<ListingViewContext> {
  return { siteUrl, prefix: market.prefix, isBuyingPaused: await isBuyingPaused(market) };
}

/** Whether `buy-data` gives out what buying an active listing takes: the one place that says so of every view. */
export const isBuyableHere = (
  { isBuyable }: { isBuyable: boolean },
  { isBuyingPaused }: Pick<ListingViewContext, "isBuyingPaused">,
): boolean => isBuyable && !isBuyingPaused;

type PricedOrder = Pick<
  OrderRow,
  "chainId" | "maker" | "unitPriceWei" | "unitPriceUsdE8" | "quantity" | "filled" | "endTime"
> & { currency: Address | null };

/** Fields of every view of an order. */
export function presentPrice(row: PricedOrder) {
  const left = row.quantity - row.filled;
  const remaining = left > 0n ? left : 0n;
  return {
    maker: row.maker,
    price: displayAmount(row.unitPriceWei),
    priceWei: String(row.unitPriceWei),
    // Rows are of served chains only.
    currency: presentCurrency(row.chainId as ChainId, row.currency ?? zeroAddress),
    usd: row.unitPriceUsdE8 === null ? null : displayPrice(row.unitPriceUsdE8),
    quantityRemaining: Number(remaining),
    quantityRemainingExact: String(remaining),
    expiresAt: timeOf(row.endTime),
  };
}

export function presentBookOrder(
  row: OrderRow & { currency: Address | null },
): z.output<typeof BookOrder> {
  // Rows are of served chains only.
  const chainId = row.chainId as ChainId;
  const bpsOf = (kind: "service" | "royalty") =>
    bps(
      row.fees
        .filter((one) => one.kind === kind)
        .reduce((sum, one) => sum + BigInt(one.unitWei), 0n),
      row.unitPriceWei,
    );
  return {
    chainId,
    orderHash: row.orderHash,
    status: row.status,
    collection: {
      address: row.collectionAddress,
      slug: row.collectionSlug,
      name: row.collectionName,
    },
    contract: row.contract,
    standard: nameStandard(row.standard),
    quantity: Number(row.quantity),
    quantityExact: String(row.quantity),
    quantityFilled: Number(row.filled),
    quantityFilledExact: String(row.filled),
    startsAt: timeOf(row.startTime),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    feeBps: bpsOf("service"),
    royaltyBps: bpsOf("royalty"),
    fees: row.fees.map(({ recipient, unitWei, kind }) => ({
      recipient,
      wei: unitWei,
      bps: bps(BigInt(unitWei), row.unitPriceWei),
      kind,
    })),
    protocol: { name: "seaport", version: "1.6", address: seaportAddresses["1.6"] },
    ...presentPrice(row),
  };
}

/** The rate of a fee leg: legs are rounded down, so the rate is rounded up. */
function bps(unitWei: bigint, priceWei: bigint): number {
  return priceWei === 0n ? 0 : Number((unitWei * 10_000n + priceWei - 1n) / priceWei);
}

/** Of unix seconds. */
export function timeOf(seconds: bigint): string {
  return new Date(Number(seconds) * 1000).toISOString();
}
