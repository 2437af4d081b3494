import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { OrderStatus } from "#projections/domain/orders/order-status.ts";
import type { PartnerName } from "#projections/domain/marketplaces.ts";

/** An order of a list from oldest to newest, and its sort key. */
export type OrderByAge = { orderHash: Hex; createdAt: Date; position: bigint };

/** Our own listings, our bids, or the listings of a partner. */
export type OrderSource = "listings" | "bids" | PartnerName;

/** Orders with a status, oldest first, that come after `after`. */
export async function readOrdersByStatus(
  db: Database,
  { source, chainId, status }: { source: OrderSource; chainId: number; status: OrderStatus },
  after: OrderByAge | null,
  limit: number,
): Promise<OrderByAge[]> {
  const marketplace = source === "listings" ? "native" : source;
  const [table, isAfter, order] =
    source === "bids"
      ? [sql`bids.bid where`, sql`position > ${after?.position}`, sql`position`]
      : [
          sql`listings.listing where marketplace = ${marketplace} and`,
          sql`(created_at, position) > (${after?.createdAt}, ${after?.position})`,
          sql`created_at, position`,
        ];
  const { rows } = await sql<OrderByAge>`
    select order_hash as "orderHash", created_at as "createdAt", position
    from ${table} chain_id = ${chainId} and status = ${status} ${after === null ? sql`` : sql`and ${isAfter}`}
    order by ${order} limit ${limit}`.execute(db);
  return rows;
}
