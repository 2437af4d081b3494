import { type RawBuilder, sql } from "kysely";

/** The timestamp of a block. */
export function blockTime(blockId: RawBuilder<unknown>): RawBuilder<Date> {
  return sql`(select b.timestamp from log.block b where b.block_id = ${blockId})`;
}
