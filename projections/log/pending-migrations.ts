import { sql } from "kysely";
import type { Database } from "../database.ts";

/** In their order. The first one makes everything that `schema.sql` and `functions.sql` say. */
const migrationNames = ["0001-start"] as const;

export type MigrationName = (typeof migrationNames)[number];

/** Names of the migrations that the database still lacks. Those of later releases, which it may have, are left alone. */
export async function pendingMigrations(db: Database): Promise<MigrationName[]> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('ops.migration') is not null as exists`.execute(db);
  if (rows[0]?.exists !== true) return [...migrationNames];
  const applied = await sql<{ name: string }>`select name from ops.migration`.execute(db);
  const names = new Set(applied.rows.map(({ name }) => name));
  return migrationNames.filter((name) => !names.has(name));
}
