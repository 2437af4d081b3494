import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { ListingMarketplace } from "#projections/domain/marketplaces.ts";
import type { ListingReason } from "#projections/domain/orders/order-status.ts";
import { allOrderParts, endedSince, type OrderParts, type OrderRow, orderColumns } from "../orders/order-columns.ts";
import { readOrdersByHash } from "../orders/read-orders-by-hash.ts";

/** A listing and its state at a given time. */
export type ListingRow = OrderRow & {
  marketplace: ListingMarketplace;
  /** Whether fulfillment data can be generated while it is active. */
  isBuyable: boolean;
  tokenId: bigint;
  /** Unfilled units that the maker holds. */
  fillable: bigint;
  /** null: native. */
  currency: Hex | null;
  reason: ListingReason | null;
};

export async function readListing(
  db: Database,
  chainId: number,
  orderHash: Hex,
  now: Date,
): Promise<ListingRow | null> {
  return (await readListings(db, chainId, [orderHash], now))[0] ?? null;
}

/** Those of the orders that are listings, unsorted. */
export async function readListings(
  db: Database,
  chainId: number,
  orderHashes: readonly Hex[],
  now: Date,
  parts: OrderParts = allOrderParts,
): Promise<ListingRow[]> {
  const columns = listingColumns(now, parts);
  return readOrdersByHash(db, { schema: "listings", columns }, chainId, orderHashes);
}

/** Of row `o` joined with `collectionJoins`. */
export function listingColumns(now: Date, parts: OrderParts = allOrderParts) {
  return sql`${orderColumns(now, parts)}, o.marketplace, o.is_buyable as "isBuyable", o.token_id as "tokenId", o.currency,
    case when ${endedSince(now)} then 0 else o.fillable end as fillable`;
}
