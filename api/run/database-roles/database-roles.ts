import { sql } from "kysely";
import type { Session } from "../../../projections/database.ts";

export const processNames = ["indexer", "projector", "jobs", "api", "console"] as const;
export type ProcessName = (typeof processNames)[number];

/** The database role of each process. `owner` owns log and operating tables, migrates, and serves operators. */
export type DatabaseRoles = Record<"owner" | ProcessName, string>;

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
  const named = (process: ProcessName) => roleOf.get(process) ?? owner;
  return {
    owner,
    indexer: named("indexer"),
    projector: named("projector"),
    jobs: named("jobs"),
    api: named("api"),
    console: named("console"),
  };
}

/** Stores the roles; none where one role is all of them. */
export async function storeDatabaseRoles(session: Session, roles: DatabaseRoles): Promise<void> {
  await sql`delete from ops.service_role`.execute(session);
  if (!areSeparate(roles)) return;
  await sql`
    insert into ops.service_role (process, role)
    select * from unnest(${Object.keys(roles)}::text[], ${Object.values(roles)}::text[])`.execute(
    session,
  );
}

/** Whether any process has a role that is not the owner. */
export const areSeparate = (roles: DatabaseRoles): boolean =>
  processNames.some((name) => roles[name] !== roles.owner);

/** The roles of processes, each once, without the owner. */
export const processRoles = (roles: DatabaseRoles): string[] => [
  ...new Set(processNames.map((name) => roles[name]).filter((role) => role !== roles.owner)),
];

/** The processes that have a role. */
export const processesOf = (roles: DatabaseRoles, role: string): ProcessName[] =>
  processNames.filter((name) => roles[name] === role);
