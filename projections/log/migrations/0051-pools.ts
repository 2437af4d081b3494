import { type Kysely, sql } from "kysely";

/** The factory of a pool, by the pool. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index fact_pool on log.fact (to_address) where kind = 37`.execute(db);
}
