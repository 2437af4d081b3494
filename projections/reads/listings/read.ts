import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../../database.ts";
import type { ListingReason } from "../../domain/orders/order-status.ts";
import type { ListingMarketplace } from "../../listings/marketplaces.ts";
import { bytes, endedSince, naming, type ShownOrder, shownColumns } from "../orders/read-shown.ts";

/** A listing as it stands at a moment. */
export type ListingRow = ShownOrder & {
  marketplace: ListingMarketplace;
  /** Whether data to buy it can be made as long as it is active. */
  isBuyable: boolean;
  tokenId: bigint;
  /** Units that are left and that the maker holds. */
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

/** Those of the orders that are listings, in no order. */
export async function readListings(
  db: Database,
  chainId: number,
  orderHashes: readonly Hex[],
  now: Date,
): Promise<ListingRow[]> {
  const { rows } = await sql<ListingRow>`
    select ${listingColumns(now)}
    from listings.listing o ${naming}
    where o.chain_id = ${chainId} and o.order_hash = any (${bytes(orderHashes)})`.execute(db);
  return rows;
}

/** Of row `o` joined with `naming`. */
export function listingColumns(now: Date) {
  return sql`${shownColumns(now)}, o.marketplace, o.is_buyable as "isBuyable", o.token_id as "tokenId", o.currency,
    case when ${endedSince(now)} then 0 else o.fillable end as fillable`;
}
