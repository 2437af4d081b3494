import { type Kysely, sql } from "kysely";

/** What somebody offered, or was offered of a contract, newest first: feeds of activity. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index fact_submission_contract on log.fact (contract_id, position) where kind = 70`.execute(
    db,
  );
  await sql`
    create index fact_submission_maker on log.fact (from_address, position) where kind = 70`.execute(
    db,
  );
}
