import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { logFacts } from "#projections/engine/fact-window.ts";
import type { Window } from "#projections/engine/projection.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import { logHead, readLogHead } from "#projections/log/blocks.ts";
import { exchangeContracts } from "#projections/order-state/exchange-contracts.ts";
import { counters } from "#projections/order-state/fills-and-cancels.ts";
import { bytea } from "#projections/log/sql-values.ts";

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
export type UnknownCounters = { makers: Address[]; last: Hex | null };

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
