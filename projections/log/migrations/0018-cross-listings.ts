import { type Kysely, sql } from "kysely";

/**
 * The projection `twins` is now `cross_listings`, which is derived from the log at the next start: its old schemas and
 * checkpoints are dropped. Columns of partner synchronisation get plainer names.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const schemas = ["twins", "twins_next", "twins_previous", "twins_replaced", "twins_verify"];
  for (const schema of schemas) {
    await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(db);
  }
  await sql`delete from engine.checkpoint where projection = any (${schemas}::text[])`.execute(db);
  for (const statement of renames) await sql.raw(statement).execute(db);
}

const renames = [
  "alter table ops.partner_listing rename column is_shown to is_visible",
  "alter table ops.partner_collection rename column pass_began_at to pass_started_at",
  "alter table ops.partner_collection rename column is_read_whole to is_pass_complete",
];
