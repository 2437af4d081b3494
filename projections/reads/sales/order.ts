import { type RawBuilder, sql } from "kysely";
import { blockIdRange } from "#projections/log/blocks.ts";

/** Position of a sale in the order of its chain. */
export type SaleKey = { blockId: bigint; transactionIndex: number; ordinal: number };

export const newestFirst = sql`order by s.block_id desc, s.transaction_index desc, s.ordinal desc`;

/**
 * The same order, written as only the indexes by marketplace and by currency have it. The planner knows nothing of
 * values that its sample of the table has not met; it would take the primary key for them and read the whole chain.
 */
export const newestFirstOfFew = sql`
  order by s.block_id desc nulls last, s.transaction_index desc, s.ordinal desc`;

/** In `sales.total`: the contract id that stands for all contracts of a chain. */
export const wholeChain = 0;

/**
 * SQL: sales of the chain, after the cursor. A second upper bound beside the cursor's would make the index scan start
 * there and read all rows up to the cursor.
 */
export function olderInChain(chainId: number, after: SaleKey | null): RawBuilder<unknown> {
  const chain = blockIdRange(chainId);
  const below = after === null ? sql`and s.block_id < ${chain.to}` : olderThan(after);
  return sql`s.block_id >= ${chain.from} ${below}`;
}

export function olderThan(after: SaleKey | null): RawBuilder<unknown> {
  if (after === null) return sql``;
  return sql`
    and (s.block_id, s.transaction_index, s.ordinal)
        < (${after.blockId}, ${after.transactionIndex}, ${after.ordinal})`;
}
