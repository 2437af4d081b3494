import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { Window } from "#projections/engine/projection.ts";
import { blockIdRange, logHead } from "#projections/log/blocks.ts";
import { kindList, kindLiteral } from "#projections/log/fact-kinds.ts";
import { isOpen } from "#projections/order-state/status-sql.ts";

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

export type OrdersToRecheck = {
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
