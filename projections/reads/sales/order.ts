import { type RawBuilder, sql } from "kysely";

/** Position of a sale in the order of its chain. */
export type SaleKey = { blockId: bigint; transactionIndex: number; ordinal: number };

export const newestFirst = sql`order by s.block_id desc, s.transaction_index desc, s.ordinal desc`;

export function olderThan(after: SaleKey | null): RawBuilder<unknown> {
  if (after === null) return sql``;
  return sql`
    and (s.block_id, s.transaction_index, s.ordinal)
        < (${after.blockId}, ${after.transactionIndex}, ${after.ordinal})`;
}
