import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import type { OrderStatus } from "../domain/orders/order-status.ts";
import type { PartnerName } from "../domain/partners.ts";
import { logFacts } from "../engine/fact-window.ts";
import type { Window } from "../engine/projection.ts";
import { blockIdRange, logHead, readLogHead } from "../log/blocks.ts";
import type { Database } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import type { ReadingBasis } from "../log/readings.ts";
import { bytea, byteaArray } from "../log/sql-values.ts";
import { isOpen } from "./read-orders.ts";
import { counters, exchangeContracts } from "./select-facts.ts";

const readings = kindList(
  "order_status_read",
  "counter_read",
  "approval_read",
  "token_approval_read",
  "owner_read",
  "units_read",
  "balance_read",
  "allowance_read",
  "transfer_read",
  "signature_read",
  "recipients_read",
  "channel_read",
);

type OrdersToRecheck = {
  orders: Hex[];
  /** The height that they are to be read at, or above it: at a lower one a node does not show yet what the facts imply. */
  fromNumber: bigint;
};

/**
 * Orders of a chain whose state the facts of a window leave uncertain: bids of anybody who took part in a trade or paid in
 * its transaction (it may have spent an allowance, which emits no event), and orders with a reading in a block that was
 * retracted.
 */
export async function readOrdersToRecheck(
  db: Database,
  chainId: number,
  window: Window,
): Promise<OrdersToRecheck> {
  /** With its counter's reading retracted, an order is cancelled until the counter is read again. */
  const hasUnknownCounter = sql`o.chain_id = ${chainId} and o.status = 'cancelled' and o.maker in (
    select from_address from retracted where kind in ${kindList("counter_read")})`;
  const { rows } = await sql<{ orderHash: Hex; fromNumber: bigint }>`
    with recent as materialized (${recentFacts(chainId, window)}),
    retracted as materialized (
      select f.kind, f.order_hash, f.from_address, f.contract_id, f.token_id
      from recent join log.fact f using (block_id)
      where recent.kind = ${kindLiteral("block_retracted")} and f.log_index is null and f.kind in ${readings}
    ),
    payer as materialized (${payers}),
    uncertain as (
      select o.order_hash from bids.bid o
      where o.chain_id = ${chainId} and ${isOpen} and o.maker in (
        select from_address from recent where ${isFill} union select to_address from recent where ${isFill}
        union select from_address from payer union select from_address from retracted)
      union
      select o.order_hash from listings.listing o
      where o.chain_id = ${chainId} and ${isOpen} and o.maker in (select from_address from retracted)
      union
      select o.order_hash from retracted join listings.listing o using (contract_id, token_id) where ${isOpen}
      union
      select o.order_hash from listings.listing o where ${hasUnknownCounter}
      union
      select o.order_hash from bids.bid o where ${hasUnknownCounter}
      union
      select order_hash from retracted where order_hash is not null
    )
    select order_hash as "orderHash", (${leastNumber}) as "fromNumber" from uncertain`.execute(db);
  return {
    orders: rows.map(({ orderHash }) => orderHash),
    fromNumber: rows[0]?.fromNumber ?? 0n,
  };
}

const isFill = sql`kind = ${kindLiteral("order_fulfilled")}`;

/** Who paid in a currency in the transaction of a fill: a buyer need be neither the offerer nor the recipient. */
const payers = sql`
  select distinct t.from_address
  from (select distinct block_id from recent where ${isFill}) filled
  cross join lateral (
    select f.from_address, f.transaction_index from log.fact f
    where f.block_id = filled.block_id and f.log_index is not null and f.kind = ${kindLiteral("erc20_transfer")}
      and f.amount > 0
    offset 0
  ) t
  where (filled.block_id, t.transaction_index) in (select block_id, transaction_index from recent where ${isFill})`;

/** Of the fills that count, the last one's height; of the retracted blocks the first one's, at which the chain has another. */
const leastNumber = sql`
  select coalesce(greatest(
           max(b.number) filter (where ${isFill} and d.block_id is null),
           min(b.number) filter (where not ${isFill} and d.block_id is not null)), 0)
  from recent join log.block b using (block_id) left join log.retracted_blocks(${logHead}) d using (block_id)`;

/** Fills and retractions of a chain in a window. */
function recentFacts(chainId: number, { after, upTo }: Window): RawBuilder<unknown> {
  const { from, to } = blockIdRange(chainId);
  return sql`
    select f.kind, f.block_id, f.transaction_index, f.from_address, f.to_address from log.fact f
    where f.position > ${after} and f.position <= ${upTo}
      and f.kind in ${kindList("block_retracted", "order_fulfilled")}
      and f.block_id >= ${from} and f.block_id < ${to}`;
}

/** Up to where the log was looked through for orders of a chain to recheck; `otherwise`, which is stored, the first time. */
export async function openRecheckedPosition(
  db: Database,
  chainId: number,
  otherwise: bigint,
): Promise<bigint> {
  await sql`
    insert into ops.order_recheck (chain_id, position) values (${chainId}, ${otherwise})
    on conflict do nothing`.execute(db);
  const { rows } = await sql<{ position: bigint }>`
    select position from ops.order_recheck where chain_id = ${chainId}`.execute(db);
  return rows[0]?.position ?? otherwise;
}

export async function storeRecheckedPosition(
  db: Database,
  chainId: number,
  position: bigint,
): Promise<void> {
  await sql`
    update ops.order_recheck set position = ${position} where chain_id = ${chainId}`.execute(db);
}

/**
 * Whether no block that readings were made at is retracted: those of a node that has not followed a reorg yet are not
 * effective.
 */
export async function areBasesEffective(
  db: Database,
  chainId: number,
  bases: readonly ReadingBasis[],
): Promise<boolean> {
  const hashes = bases.map(({ hash }) => hash);
  const { rows } = await sql`
    select from log.block b join log.retracted_blocks(${logHead}) d using (block_id)
    where b.chain_id = ${chainId} and b.hash = any (${byteaArray(hashes)}) limit 1`.execute(db);
  return rows.length === 0;
}

/** A counter is never zero again: an order with this one is not cancelled for want of a fact. */
const isSuspect = (chainId: number) =>
  sql`o.chain_id = ${chainId} and o.status = 'cancelled' and o.counter <> 0`;

/**
 * Makers of orders that entered the log in a window and are cancelled by their counter, which the log may not know: its
 * events are before the first indexed block, or not indexed yet.
 */
export async function readNewUnknownCounters(
  db: Database,
  chainId: number,
  { after, upTo }: Window,
): Promise<Address[]> {
  const suspects = (table: string) => sql`
    select o.maker, o.counter from ${sql.table(table)} o where o.order_hash = f.order_hash and ${isSuspect(chainId)}`;
  return await readUnknown(
    db,
    chainId,
    sql`
      select o.maker, o.counter
      from (
        select distinct f.order_hash from log.fact f
        where f.position > ${after} and f.position <= ${upTo}
          and f.kind in ${kindList("order_submitted", "partner_listing_seen")}
      ) f
      cross join lateral (${suspects("listings.listing")} union all ${suspects("bids.bid")} offset 0) o`,
    sql`k.amount is distinct from o.counter`,
  );
}

/** The orders of a page, in the order of their hashes; `last` null: there are none after it. */
type UnknownCounters = { makers: Address[]; last: Hex | null };

/** Makers, without any effective fact of their counter, of orders among the next `limit` of a table that are cancelled by it. */
export async function readUnknownCounters(
  db: Database,
  {
    chainId,
    table,
    after,
  }: { chainId: number; table: "listings.listing" | "bids.bid"; after: Hex | null },
  limit: number,
): Promise<UnknownCounters> {
  const from = after === null ? sql`true` : sql`o.order_hash > ${bytea(after)}`;
  const { rows } = await sql<{ orderHash: Hex }>`
    select o.order_hash as "orderHash" from ${sql.table(table)} o where ${from}
    order by o.order_hash offset ${limit - 1} limit 1`.execute(db);
  const last = rows[0]?.orderHash ?? null;
  const to = last === null ? sql`true` : sql`o.order_hash <= ${bytea(last)}`;
  const suspects = sql`
    select o.maker, o.counter from ${sql.table(table)} o where ${from} and ${to} and ${isSuspect(chainId)}`;
  return { makers: await readUnknown(db, chainId, suspects, sql`k.amount is null`), last };
}

/** `suspects`: `maker` and `counter` of orders; `isUnknown`: of an order `o` and the counter `k` of its maker. */
async function readUnknown(
  db: Database,
  chainId: number,
  suspects: RawBuilder<unknown>,
  isUnknown: RawBuilder<unknown>,
): Promise<Address[]> {
  const known = counters({
    orders: sql`suspect`,
    upTo: await readLogHead(db),
    facts: logFacts,
    retractedBlocks: sql`retracted_block`,
  });
  const { rows } = await sql<{ maker: Address }>`
    with retracted_block as materialized (select block_id from log.retracted_blocks(${logHead})),
    suspect as materialized (
      select s.maker, s.counter, (select v.exchange_id from (${exchangeContracts}) v where v.chain_id = ${chainId}) as exchange_id
      from (${suspects}) s
    )
    select distinct o.maker from suspect o
    left join (${known}) k on k.maker = o.maker and k.exchange_id = o.exchange_id
    where ${isUnknown}`.execute(db);
  return rows.map(({ maker }) => maker);
}

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
