import { type Kysely, sql } from "kysely";

/** What an operator has stopped for a while. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table ops.switch (
      name       text        primary key,
      is_paused  boolean     not null,
      changed_at timestamptz not null
    )`.execute(db);
  await sql`
    comment on table ops.switch is 'Work that stands still by an operator''s word; without a row it goes on.'
  `.execute(db);
}
