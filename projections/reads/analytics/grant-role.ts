import { sql } from "kysely";
import type { Database, Session } from "#projections/log/database.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { analyticsSchema } from "./bind-views.ts";
import { jobsRole, readPowers, readRevocations } from "./role-powers.ts";
import { scramVerifier } from "./scram-verifier.ts";

export type AnalystRole = {
  name: string;
  /** Null: the role keeps its password. */
  password: string | null;
  /** Of a role that does not exist yet. */
  firstPassword?: string;
  /** What a transaction of the role may last. */
  timeoutSeconds: number;
};

export type Granted = {
  wasMade: boolean;
  /** Other schemas that the role may read, by grants of others. */
  alsoSees: string[];
  /** What it may do that this database's user could not take from it. */
  stillMay: string[];
};

/** `statements`: to be run by a user who may administer roles. */
export type AdminRefusal = Rejection<"needs_admin" | "too_mighty"> & { statements: string[] };

/** Grants a role read access to the views and nothing else. Creates the role if it does not exist. */
export async function grantRole(db: Database, role: AnalystRole): Promise<Granted | AdminRefusal> {
  const found = await findRole(db, role.name);
  if (found?.hasAccess === true) {
    const words = `${role.name} may already read or change all tables: choose another role`;
    return { ...reject("too_mighty", words), statements: [] };
  }
  const password = role.password ?? (found === null ? (role.firstPassword ?? null) : null);
  const statements = [
    ...statementsFor({ ...role, password }, found !== null),
    ...(found?.canBeEnded === true ? [] : [`grant "${role.name}" to "${await readJobsRole(db)}"`]),
    ...(await readRevocations(db)),
    `insert into ops.analyst (role, timeout_seconds) values ('${role.name}', ${role.timeoutSeconds})
     on conflict (role) do update set timeout_seconds = excluded.timeout_seconds`,
  ];
  const grants = [
    `grant usage on schema ${analyticsSchema} to "${role.name}"`,
    `grant select on all tables in schema ${analyticsSchema} to "${role.name}"`,
  ];
  try {
    await db.transaction().execute(async (session) => {
      for (const one of [...statements, ...grants]) await sql.raw(one).execute(session);
    });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const words = "this database's user may not administer roles";
    const shown = [...statements, ...grants].map((one) =>
      one.replace(/password '.*'/, "password '…'"),
    );
    return { ...reject("needs_admin", words), statements: shown };
  }
  return {
    wasMade: found === null,
    alsoSees: await readOthers(db, role.name),
    stillMay: await readPowers(db, role.name),
  };
}

/** Revokes access to the views; the role itself stays. False when it had none. */
export async function revokeRole(db: Database, name: string): Promise<boolean> {
  const { rows } = await sql<{ had: boolean }>`
    select exists (
      select from pg_namespace n cross join aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
      where n.nspname = ${analyticsSchema} and r.rolname = ${name}
    ) as had`.execute(db);
  if (rows[0]?.had !== true) return false;
  await db.transaction().execute(async (session) => {
    await sql`revoke all on all tables in schema ${sql.id(analyticsSchema)} from ${sql.id(name)}`.execute(
      session,
    );
    await sql`revoke all on schema ${sql.id(analyticsSchema)} from ${sql.id(name)}`.execute(
      session,
    );
    await sql`delete from ops.analyst where role = ${name}`.execute(session);
  });
  return true;
}

/** At most, of one role. */
const CONNECTIONS = 10;

function statementsFor({ name, password, timeoutSeconds }: AnalystRole, exists: boolean): string[] {
  const settings = [
    "default_transaction_read_only = on",
    `statement_timeout = '${timeoutSeconds}s'`,
    "idle_in_transaction_session_timeout = '10min'",
    `search_path = ${analyticsSchema}`,
  ];
  const attributes = "nosuperuser nocreatedb nocreaterole noreplication nobypassrls";
  return [
    exists
      ? `alter role "${name}" connection limit ${CONNECTIONS}`
      : `create role "${name}" login ${attributes} connection limit ${CONNECTIONS}`,
    ...(password === null ? [] : [`alter role "${name}" password '${scramVerifier(password)}'`]),
    ...settings.map((setting) => `alter role "${name}" set ${setting}`),
  ];
}

type FoundRole = { hasAccess: boolean; canBeEnded: boolean };

async function findRole(session: Session, name: string): Promise<FoundRole | null> {
  const { rows } = await sql<FoundRole>`
    select rolsuper or pg_has_role(oid, current_user, 'member')
           or has_schema_privilege(oid, 'log', 'usage') as "hasAccess",
           pg_has_role(${jobsRole}, oid, 'usage') as "canBeEnded"
    from pg_roles where rolname = ${name}`.execute(session);
  return rows[0] ?? null;
}

async function readJobsRole(session: Session): Promise<string> {
  const { rows } = await sql<{ role: string }>`select ${jobsRole} as role`.execute(session);
  return rows[0]?.role ?? "";
}

async function readOthers(session: Session, name: string): Promise<string[]> {
  const { rows } = await sql<{ schema: string }>`
    select nspname as schema from pg_namespace
    where has_schema_privilege(${name}, oid, 'usage') and nspname !~ '^pg_'
      and nspname not in ('information_schema', 'public', ${analyticsSchema})
    order by 1`.execute(session);
  return rows.map(({ schema }) => schema);
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "42501";
}
