import { type Kysely, sql } from "kysely";

/** What was put aside is looked up by every tick. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index fact_quarantine on log.fact (position) where kind in (95, 96)`.execute(db);
}
