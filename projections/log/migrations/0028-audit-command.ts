import { type Kysely, sql } from "kysely";

/** The command whose walk over a chain's blocks is kept is called so. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table ops.audit rename column asked to command`.execute(db);
}
