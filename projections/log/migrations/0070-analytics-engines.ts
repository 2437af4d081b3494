import { type Kysely, sql } from "kysely";

/** The analytics engines that facts and rows are copied to, and how far. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table ops.analytics_engine (
     engine    text primary key,
     position  bigint      not null,
     synced_at timestamptz,
     failed_at timestamptz,
     error     text
   )`,
  "comment on table ops.analytics_engine is 'How far each engine is, and how its last sync ended'",
  "comment on column ops.analytics_engine.error is 'Of the last sync; null: it did not fail'",
];
