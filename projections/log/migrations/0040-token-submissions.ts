import { type Kysely, sql } from "kysely";

/** What somebody offered, or was offered, of one token, newest first: its activity. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index fact_submission_token on log.fact (contract_id, token_id, position) where kind = 70`.execute(
    db,
  );
}
