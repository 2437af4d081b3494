import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../../database.ts";
import type { OrderStatus } from "../../domain/orders/order-status.ts";
import type { Window } from "../../engine/projection.ts";
import type { PartnerName } from "../../facts/partner-listing.ts";
import { blockIdRange } from "../../log/block-id.ts";
import { kindsIn } from "../../order-state/evidence.ts";

/** Where a walk over a book stands. */
export type OpenOrder = { orderHash: Hex; createdAt: Date; position: bigint };

/** The books of the house, and the listings that partners show. */
export type Book = "listings" | "bids" | PartnerName;

/** Orders of a book with a status, the oldest first, after one. */
export async function readOpenOrders(
  db: Database,
  { book, chainId, status }: { book: Book; chainId: number; status: OrderStatus },
  after: OpenOrder | null,
  limit: number,
): Promise<OpenOrder[]> {
  const marketplace = book === "listings" ? "native" : book;
  const [rowsOf, isBeyond, order] =
    book === "bids"
      ? [sql`bids.bid where`, sql`position > ${after?.position}`, sql`position`]
      : [
          sql`listings.listing where marketplace = ${marketplace} and`,
          sql`(created_at, position) > (${after?.createdAt}, ${after?.position})`,
          sql`created_at, position`,
        ];
  const { rows } = await sql<OpenOrder>`
    select order_hash as "orderHash", created_at as "createdAt", position from ${rowsOf} chain_id = ${chainId} and status = ${status} ${after === null ? sql`` : sql`and ${isBeyond}`}
    order by ${order} limit ${limit}`.execute(db);
  return rows;
}

/**
 * Orders of a chain about which the facts of a window may not tell all: bids whose maker took part in a trade that is
 * not in the book (it may have spent an allowance, of which there is no event), and orders about which something was
 * read in a block that was dropped.
 */
export async function readDoubtfulOrders(
  db: Database,
  chainId: number,
  { after, upTo }: Window,
): Promise<Hex[]> {
  const { from, to } = blockIdRange(chainId);
  const isOpen = sql`o.status in ('active', 'inactive')`;
  /** A counter of which nothing is known any more cancels what was signed with it, until it is read again. */
  const isUncounted = sql`o.chain_id = ${chainId} and o.status = 'cancelled' and o.maker in (
    select from_address from unread where kind in ${kindsIn("counter_read")})`;
  const { rows } = await sql<{ orderHash: Hex }>`
    with news as materialized (
      select f.kind, f.block_id, f.from_address, f.to_address from log.fact f
      where f.position > ${after} and f.position <= ${upTo} and f.kind in (1, 30)
        and f.block_id >= ${from} and f.block_id < ${to}
    ), unread as materialized (
      select f.kind, f.order_hash, f.from_address, f.contract_id, f.token_id
      from news join log.fact f using (block_id)
      where news.kind = 1 and f.log_index is null and f.kind between 71 and 80
    )
    select o.order_hash as "orderHash" from bids.bid o
    where o.chain_id = ${chainId} and ${isOpen} and o.maker in (
      select from_address from news where kind = 30 union select to_address from news where kind = 30
      union select from_address from unread)
    union
    select o.order_hash from listings.listing o
    where o.chain_id = ${chainId} and ${isOpen} and o.maker in (select from_address from unread)
    union
    select o.order_hash from unread join listings.listing o using (contract_id, token_id) where ${isOpen}
    union
    select o.order_hash from listings.listing o where ${isUncounted}
    union
    select o.order_hash from bids.bid o where ${isUncounted}
    union
    select order_hash from unread where order_hash is not null`.execute(db);
  return rows.map(({ orderHash }) => orderHash);
}
