import { type Kysely, sql } from "kysely";

/** Earlier events of an exchange that a later one does not repeat: the last bid on a token. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index fact_bid on log.fact (contract_id, token_id, block_id, log_index) where kind = 36`.execute(
    db,
  );
}
