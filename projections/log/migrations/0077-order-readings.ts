import { type Kysely, sql } from "kysely";

/** The newest reading of an order of each kind is the last of its index entries: of its signature, and of its recipients. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create index fact_signature_reading_next on only log.fact (order_hash, kind, block_id) where kind in (79, 82)`,
    )
    .execute(db);
}
