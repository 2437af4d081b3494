import { type Kysely, sql } from "kysely";

/**
 * Instant keys of one address share the limits of as many keys as it gets in a day. Keys that exist share nothing; they
 * expire within a week.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table access.key add share smallint check (share >= 0)`.execute(db);
  await sql`
    comment on column access.key.share is
      'Instant keys of one address with the same number share one limit; null: it has its own.'`.execute(
    db,
  );
  await sql`
    comment on column access.key.created_from is
      'The address that it was given to, until it expires: it limits how many more are given, and what they do together.'`.execute(
    db,
  );
}
