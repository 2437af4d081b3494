import { type Kysely, sql } from "kysely";

/**
 * The newest reading of a subject is the last of its index entries, and an order's other facts are found without its
 * signature readings: a contract may change its answer at will. The partitions' indexes are built and put in the place of the
 * former ones by `../partitions/complete-indexes.ts`, beside appends and reads.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  "create index fact_signature_reading on only log.fact (order_hash, block_id) where kind = 79",
  `create index fact_token_reading_next on only log.fact (contract_id, token_id, kind, from_address, block_id)
     where kind in (74, 75, 78)`,
  "create index fact_order_next on only log.fact (order_hash, kind) where order_hash is not null",
];
