import { type Kysely, sql } from "kysely";

/** Tables that exist already get what new ones are made with: see `tables.ts` of both projections. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const projection of ["collections", "collection_stats"]) {
    await sql`
      alter table if exists ${sql.table(`${projection}.contract`)}
        alter column collection_id set (n_distinct = -1)`.execute(db);
  }
}
