import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { ListingMarketplace } from "#projections/domain/marketplaces.ts";
import type { OrderStatus } from "#projections/domain/orders/order-status.ts";
import { kindList, kindLiteral } from "#projections/log/fact-kinds.ts";
import { bytea } from "#projections/log/sql-values.ts";
import { endedSince } from "../orders/order-columns.ts";

export type TransactionMatch = {
  chainId: number;
  hash: Hex;
  blockNumber: bigint;
  timestamp: Date;
  sales: bigint;
};
export type OrderMatch = {
  chainId: number;
  orderHash: Hex;
  /** null: a bid. */
  marketplace: ListingMarketplace | null;
  maker: Hex;
  status: OrderStatus;
};
export type SaleMatch = { chainId: number; saleId: Hex; transactionHash: Hex; timestamp: Date };

/** What has a hash: transactions with events that are indexed, in blocks that are not retracted, orders and sales. */
export async function readHashMatches(
  db: Database,
  chainIds: readonly number[],
  hash: Hex,
  now: Date,
): Promise<{ transactions: TransactionMatch[]; orders: OrderMatch[]; sales: SaleMatch[] }> {
  const [transactions, orders, sales] = await Promise.all([
    readTransactions(db, chainIds, hash),
    readOrders(db, chainIds, hash, now),
    readSales(db, chainIds, hash),
  ]);
  return { transactions, orders, sales };
}

async function readTransactions(db: Database, chainIds: readonly number[], hash: Hex) {
  const lastState = sql`
    select f.kind from log.fact f
    where f.block_id = t.block_id and f.kind in ${kindList("block_retracted", "block_readopted")}
    order by f.position desc limit 1`;
  const { rows } = await sql<TransactionMatch>`
    select b.chain_id as "chainId", t.hash, b.number as "blockNumber", b.timestamp, (
             select count(*) from sales.sale s
             where s.block_id = t.block_id and s.transaction_index = t.transaction_index
           ) as sales
    from log.transaction t join log.block b using (block_id)
    where t.hash = ${bytea(hash)} and b.chain_id = any (${chainIds}::int[])
      and (${lastState}) is distinct from ${kindLiteral("block_retracted")}
    order by t.block_id desc limit ${maxRows}`.execute(db);
  return rows;
}

async function readOrders(db: Database, chainIds: readonly number[], hash: Hex, now: Date) {
  const columns = sql`
    o.chain_id as "chainId", o.order_hash as "orderHash", o.maker,
    case when ${endedSince(now)} then 'expired' else o.status end as status`;
  const ofHash = sql`o.order_hash = ${bytea(hash)} and o.chain_id = any (${chainIds}::int[])`;
  const { rows } = await sql<OrderMatch>`
    select ${columns}, o.marketplace from listings.listing o where ${ofHash}
    union all
    select ${columns}, null from bids.bid o where ${ofHash}
    order by 1 limit ${maxRows}`.execute(db);
  return rows;
}

async function readSales(db: Database, chainIds: readonly number[], hash: Hex) {
  const { rows } = await sql<SaleMatch>`
    select s.chain_id as "chainId", s.sale_id as "saleId", s.transaction_hash as "transactionHash", s.timestamp
    from sales.sale s where s.sale_id = ${bytea(hash)} and s.chain_id = any (${chainIds}::int[])
    order by s.block_id desc limit ${maxRows}`.execute(db);
  return rows;
}

/** A hash is one thing; a transaction may be in several live blocks for a moment. */
const maxRows = 10;
