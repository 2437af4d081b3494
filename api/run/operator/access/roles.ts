import type { Command } from "commander";
import type { Database } from "#projections/log/database.ts";
import type { Config } from "#api/run/config/config.ts";
import { ConfigurationError } from "#api/run/config/configuration-error.ts";
import { applyRights } from "#api/run/database-roles/apply-rights.ts";
import { addressesOf, configuredRoles } from "#api/run/database-roles/configured-roles.ts";
import { areSeparate, type DatabaseRoles, readDatabaseRoles } from "#api/run/database-roles/database-roles.ts";
import { rightsScript } from "#api/run/database-roles/rights-script.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";

/** `op roles grant`, `op roles sql` */
export function addRoles(program: Command): void {
  const roles = program.command("roles").description("database users of the processes");
  roles
    .command("grant")
    .description("give each process's database user the rights that it needs, and take others")
    .option("--json", "print JSON")
    .exitOverride()
    .action(grant);
  roles
    .command("sql")
    .description("print what `op roles grant` runs, for an administrator")
    .exitOverride()
    .action(printScript);
}

async function grant({ json }: { json?: boolean }): Promise<void> {
  await withDatabase(
    "roles grant",
    async ({ db, config }) => {
      const roles = await chooseRoles(db, config);
      const remaining = await applyRights(db, roles);
      print(json, { roles, remaining }, [
        ...Object.entries(roles).map(([process, role]) => `${process}: ${role}`),
        ...remaining.map(({ role, finding }) => `${role} ${finding}`),
      ]);
      if (remaining.length === 0) return;
      process.stderr.write("this database's user may not correct all; an administrator must\n");
      process.exitCode = 1;
    },
    { as: "admin" },
  );
}

async function printScript(): Promise<void> {
  await withDatabase("roles sql", async ({ db, config }) =>
    process.stdout.write(rightsScript(await chooseRoles(db, config))),
  );
}

async function chooseRoles(db: Database, { database }: Config): Promise<DatabaseRoles> {
  const { url } = database;
  const configured = url === null ? null : configuredRoles(addressesOf({ ...database, url }));
  if (configured !== null && areSeparate(configured)) return configured;
  const stored = await readDatabaseRoles(db);
  if (stored !== null) return stored;
  throw new ConfigurationError([
    "DATABASE_URL_API: expected a postgres:// URL of a user of its own, or another of DATABASE_URL_INDEXER, " +
      "DATABASE_URL_PROJECTOR and DATABASE_URL_JOBS. Example: DATABASE_URL_API=postgres://api:password@localhost:5432/orders",
  ]);
}
