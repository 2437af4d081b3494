import type { Command } from "commander";
import type { Database } from "../../../../projections/database.ts";
import type { Config } from "../../config/config.ts";
import { ConfigurationError } from "../../config/configuration-error.ts";
import { applyRights } from "../../database-roles/apply-rights.ts";
import { addressesOf, configuredRoles } from "../../database-roles/configured-roles.ts";
import {
  areSeparate,
  type DatabaseRoles,
  processRoles,
  readDatabaseRoles,
} from "../../database-roles/database-roles.ts";
import type { WrongRight } from "../../database-roles/find-wrong-roles.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";

/** `op roles grant`, `op roles none` */
export function addRoles(program: Command): void {
  const roles = program.command("roles").description("database users of the processes");
  roles
    .command("grant")
    .description("give each process's database user the rights that it needs, and take others")
    .option("--json", "print JSON")
    .exitOverride()
    .action(grant);
  roles
    .command("none")
    .description("make DATABASE_URL's user the only one again: it owns everything")
    .option("--json", "print JSON")
    .exitOverride()
    .action(returnToOne);
}

async function grant({ json }: { json?: boolean }): Promise<void> {
  await withDatabase(
    "roles grant",
    async ({ db, config }) => {
      const roles = await chooseRoles(db, config);
      const { corrected, remaining } = await applyRights(db, roles);
      print(json, { roles, corrected, remaining }, [
        ...Object.entries(roles).map(([process, role]) => `${process}: ${role}`),
        `${corrected} rights corrected`,
        ...remaining.flatMap(linesOf),
      ]);
      if (remaining.length > 0) leaveToAdministrator();
    },
    { as: "admin" },
  );
}

async function returnToOne({ json }: { json?: boolean }): Promise<void> {
  await withDatabase(
    "roles none",
    async ({ db, config }) => {
      const owner = ownerOf(config);
      const stored = await readDatabaseRoles(db);
      const former = stored === null ? [] : processRoles(stored).filter((role) => role !== owner);
      const one = { owner, indexer: owner, projector: owner, jobs: owner, api: owner };
      const { corrected, remaining } = await applyRights(db, { ...one, console: owner });
      // What a role was granted is taken with what it owns, which is nothing any more.
      const statements = former.map(
        (role) =>
          `reassign owned by "${role}" to "${owner}"; drop owned by "${role}"; drop role "${role}"`,
      );
      print(json, { owner, former, corrected, remaining, statements }, [
        `owner: ${owner}`,
        `${corrected} rights corrected`,
        ...remaining.flatMap(linesOf),
        ...(statements.length === 0
          ? []
          : ["the former users keep what they may read until an administrator runs:"]),
        ...statements.map((statement) => `  ${statement};`),
      ]);
      if (remaining.length > 0) leaveToAdministrator();
    },
    { as: "admin" },
  );
}

function leaveToAdministrator(): void {
  process.stderr.write("this database's user may not correct all; an administrator must\n");
  process.exitCode = 1;
}

function ownerOf({ database }: Config): string {
  const { url } = database;
  if (url === null)
    throw new ConfigurationError(["DATABASE_URL: the embedded database keeps a user per process"]);
  const configured = configuredRoles(addressesOf({ ...database, url }));
  if (!areSeparate(configured)) return configured.owner;
  throw new ConfigurationError([
    "DATABASE_URL_API and the others: remove the addresses of further users first",
  ]);
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

const linesOf = ({ role, finding, statements }: WrongRight): string[] => [
  `${role} ${finding}`,
  ...statements.map((one) => `  ${one};`),
];
