import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { BidReason } from "#projections/domain/orders/order-status.ts";
import { allOrderParts, type OrderParts, type OrderRow, orderColumns } from "../orders/order-columns.ts";
import { readOrdersByHash } from "../orders/read-orders-by-hash.ts";

/** A bid and its state at a given time. */
export type BidRow = OrderRow & {
  kind: "single-token" | "collection";
  /** null: any token of the contract. */
  tokenId: bigint | null;
  currency: Hex;
  reason: BidReason | null;
};

export async function readBid(
  db: Database,
  chainId: number,
  orderHash: Hex,
  now: Date,
): Promise<BidRow | null> {
  return (await readBids(db, chainId, [orderHash], now))[0] ?? null;
}

/** Those of the orders that are bids, unsorted. */
export async function readBids(
  db: Database,
  chainId: number,
  orderHashes: readonly Hex[],
  now: Date,
  parts: OrderParts = allOrderParts,
): Promise<BidRow[]> {
  return readOrdersByHash(
    db,
    { schema: "bids", columns: bidColumns(now, parts) },
    chainId,
    orderHashes,
  );
}

/** Of row `o` joined with `collectionJoins`. */
export function bidColumns(now: Date, parts: OrderParts = allOrderParts) {
  return sql`${orderColumns(now, parts)}, o.kind, o.token_id as "tokenId", o.currency`;
}
