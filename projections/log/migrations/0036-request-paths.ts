import { type Kysely, sql } from "kysely";

/** The log of a key's requests has their paths, where it had the patterns of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table access.key_request rename column route to path`.execute(db);
  await sql`comment on column access.key_request.path is 'Without its query, cut.'`.execute(db);
}
