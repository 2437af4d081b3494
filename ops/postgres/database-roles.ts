import { sql } from "kysely";
import type { Session } from "#projections/log/database.ts";
import type { Config } from "../config/config.ts";

export const processNames = ["indexer", "projector", "jobs", "api", "console"] as const;
type ProcessName = (typeof processNames)[number];

/** The database role of each process. `owner` owns log and operating tables, migrates, and serves operators. */
export type DatabaseRoles = Record<"owner" | ProcessName, string>;

export const forEachRole = (value: (process: keyof DatabaseRoles) => string): DatabaseRoles => ({
  owner: value("owner"),
  indexer: value("indexer"),
  projector: value("projector"),
  jobs: value("jobs"),
  api: value("api"),
  console: value("console"),
});

/** The roles of this database. Null where one role is all of them, or before the migration that knows of roles. */
export async function readDatabaseRoles(session: Session): Promise<DatabaseRoles | null> {
  const { rows: found } = await sql<{ exists: boolean }>`
    select to_regclass('ops.service_role') is not null as exists`.execute(session);
  if (!found[0]?.exists) return null;
  const { rows } = await sql<{ process: keyof DatabaseRoles; role: string }>`
    select process, role from ops.service_role`.execute(session);
  const roleOf = new Map(rows.map(({ process, role }) => [process, role]));
  const owner = roleOf.get("owner");
  if (owner === undefined) return null;
  const roles = forEachRole((process) => roleOf.get(process) ?? owner);
  return areSeparate(roles) ? roles : null;
}

/** Whether any process has a role that is not the owner. */
export const areSeparate = (roles: DatabaseRoles): boolean =>
  processNames.some((name) => roles[name] !== roles.owner);

/** The roles of processes, each once, without the owner. */
export const processRoles = (roles: DatabaseRoles): string[] => [
  ...new Set(processNames.map((name) => roles[name]).filter((role) => role !== roles.owner)),
];

/** The settings of the database's addresses, without those that are not set. */
export type DatabaseAddresses = { DATABASE_URL: string } & Record<string, string>;

export function addressesOf({
  url,
  adminUrl,
  processUrls,
}: Pick<Config["database"], "adminUrl" | "processUrls"> & { url: string }): DatabaseAddresses {
  const named = Object.entries({ ...processUrls, admin: adminUrl });
  const others = named.flatMap(([name, value]) =>
    value === null ? [] : [[`DATABASE_URL_${name.toUpperCase()}`, value]],
  );
  return { DATABASE_URL: url, ...Object.fromEntries(others) };
}

/** The roles that the addresses name; without one, a process has the owner's. */
export function configuredRoles(addresses: DatabaseAddresses): DatabaseRoles {
  const owner = userOf(addresses.DATABASE_URL);
  return forEachRole((process) => {
    const url = addresses[`DATABASE_URL_${process.toUpperCase()}`];
    return url === undefined ? owner : userOf(url);
  });
}

function userOf(url: string): string {
  const { username, searchParams } = new URL(url);
  return decodeURIComponent(username) || (searchParams.get("user") ?? "postgres");
}
