import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../../database.ts";
import type { BidReason } from "../../domain/orders/order-status.ts";
import { bytes, naming, type ShownOrder, shownColumns } from "../orders/read-shown.ts";

/** A bid as it stands at a moment. */
export type BidRow = ShownOrder & {
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

/** Those of the orders that are bids, in no order. */
export async function readBids(
  db: Database,
  chainId: number,
  orderHashes: readonly Hex[],
  now: Date,
): Promise<BidRow[]> {
  const { rows } = await sql<BidRow>`
    select ${bidColumns(now)}
    from bids.bid o ${naming}
    where o.chain_id = ${chainId} and o.order_hash = any (${bytes(orderHashes)})`.execute(db);
  return rows;
}

/** Of row `o` joined with `naming`. */
export function bidColumns(now: Date) {
  return sql`${shownColumns(now)}, o.kind, o.token_id as "tokenId", o.currency`;
}
