import { sql } from "kysely";
import type { Hex } from "viem";
import { blockIdRange, firstBlockId } from "../log/blocks.ts";
import type { Database } from "../log/database.ts";
import { schemaOf } from "../log/versions.ts";
import { type SaleRow, saleColumns, saleNames } from "./read-sale.ts";
import { anyTrade, matchesTrade, type SaleKey } from "./read-sale-filter.ts";

/** Sales between two blocks, both included. null: any. */
export type BlockSalesFilter = {
  readonly chainId: number;
  readonly fromBlock: bigint | null;
  readonly toBlock: bigint | null;
  readonly contractId: number | null;
  readonly tokenId: bigint | null;
  readonly buyer: Hex | null;
  readonly seller: Hex | null;
  /** The exchange. */
  readonly protocol: string | null;
  readonly side: "ask" | "bid" | null;
};

type BlockSalesSlice = { limit: number; after: SaleKey | null; direction: "asc" | "desc" };

/** A sale, and its place among those of the same event. */
export type BlockSaleRow = SaleRow & { bundleIndex: bigint };

const noNames = new Set<never>();

/** Sales in the order of the chain, or against it; without the names of their collections, and not counted. */
export async function readSalesOfBlocks(
  db: Database,
  filter: BlockSalesFilter,
  { limit, after, direction }: BlockSalesSlice,
): Promise<BlockSaleRow[]> {
  const { contractId, tokenId, side, buyer, seller, protocol } = filter;
  const order = sql`s.block_id ${sql.raw(direction)}, s.transaction_index ${sql.raw(direction)}, s.ordinal ${sql.raw(direction)}`;
  const { rows } = await sql<BlockSaleRow>`
    select ${saleColumns(noNames)}, (
             select count(*) from sales.sale b
             where b.block_id = s.block_id and b.transaction_index = s.transaction_index
               and b.log_index = s.log_index and b.ordinal < s.ordinal
           ) as "bundleIndex"
    from (
      select s.* from sales.sale s
      where ${between(filter, after, direction)} and ${matchesTrade({ ...anyTrade, buyer, seller, protocol })}
        ${contractId === null ? sql`` : sql`and s.contract_id = ${contractId}`}
        ${tokenId === null ? sql`` : sql`and s.token_id = ${tokenId}`}
        ${side === null ? sql`` : sql`and s.side = ${side}`}
      order by ${order} limit ${limit}
    ) s ${saleNames} order by ${order}`.execute(db);
  return rows;
}

/** SQL: the cursor takes the place of the bound from which the index is read: with both, all rows up to it would be. */
function between(
  { chainId, fromBlock, toBlock }: BlockSalesFilter,
  after: SaleKey | null,
  direction: "asc" | "desc",
) {
  const chain = blockIdRange(chainId);
  const from = fromBlock === null ? chain.from : firstBlockId(chainId, fromBlock);
  const to = toBlock === null ? chain.to : firstBlockId(chainId, toBlock + 1n);
  if (after === null) return sql`s.block_id >= ${from} and s.block_id < ${to}`;
  const key = sql`(s.block_id, s.transaction_index, s.ordinal)`;
  const last = sql`(${after.blockId}, ${after.transactionIndex}, ${after.ordinal})`;
  return direction === "desc"
    ? sql`s.block_id >= ${from} and ${key} < ${last}`
    : sql`s.block_id < ${to} and ${key} > ${last}`;
}

type NewestBlock = { number: bigint; hash: Hex; timestamp: Date };

/** The highest block of a chain with an event that sales are derived from as far as they are; null: none yet. */
export async function readNewestBlock(db: Database, chainId: number): Promise<NewestBlock | null> {
  const chain = blockIdRange(chainId);
  const { rows } = await sql<NewestBlock>`
    with reached as materialized (
      select position from engine.checkpoint where projection = ${schemaOf("sales")}
    )
    select b.number, b.hash, b.timestamp
    from (
      select f.block_id from log.fact f
      where f.log_index is not null and f.block_id >= ${chain.from} and f.block_id < ${chain.to}
        and f.position <= (select position from reached)
        and f.block_id not in (select d.block_id from log.retracted_blocks((select position from reached)) d)
      order by f.block_id desc limit 1
    ) newest join log.block b using (block_id)`.execute(db);
  return rows[0] ?? null;
}
