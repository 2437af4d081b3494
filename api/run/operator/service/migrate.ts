import { pendingMigrations } from "#projections/log/schema.ts";
import { applyRights } from "#api/run/database-roles/apply-rights.ts";
import { readDatabaseRoles } from "#api/run/database-roles/database-roles.ts";
import { migrate as migrateDatabase } from "#api/run/postgres/migrate.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";

/** Migrates the configured database. */
export async function migrate({ json }: { json?: boolean }): Promise<void> {
  await withDatabase(
    "migrate",
    async ({ db }) => {
      const ran = await pendingMigrations(db);
      await migrateDatabase(db);
      const roles = await readDatabaseRoles(db);
      if (roles !== null) await applyRights(db, roles);
      print(json, { ran }, [
        ran.length === 0 ? "the database is up to date" : `ran ${ran.join(", ")}`,
      ]);
    },
    { mayLackMigrations: true },
  );
}
