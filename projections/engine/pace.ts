import { sql } from "kysely";
import type { Database } from "../database.ts";

/** Facts a second that the tables of a schema were derived at in bulk; null when that was not noted. */
export async function readPace(db: Database, schema: string): Promise<number | null> {
  const { rows } = await sql<{ note: string | null }>`
    select obj_description(oid, 'pg_namespace') as note from pg_namespace where nspname = ${schema}`.execute(
    db,
  );
  const [, facts, seconds] = /^derived (\d+) facts in ([\d.]+) s$/.exec(rows[0]?.note ?? "") ?? [];
  return Number(facts) > 0 && Number(seconds) > 0 ? Number(facts) / Number(seconds) : null;
}

/** Notes it with the schema, for whoever looks at it and for the next rebuild's guess. */
export async function notePace(
  db: Database,
  schema: string,
  facts: bigint,
  seconds: number,
): Promise<void> {
  const note = `derived ${facts} facts in ${seconds.toFixed(3)} s`;
  await sql`comment on schema ${sql.id(schema)} is ${sql.lit(note)}`.execute(db);
}
