import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Database, Session } from "../../database.ts";
import { type Rejection, reject } from "../../domain/rejection.ts";
import { analyticsSchema } from "./bind-views.ts";

export type AnalystRole = {
  name: string;
  /** Null: the role keeps what it has. */
  password: string | null;
  timeoutSeconds: number;
};

type Granted = {
  wasMade: boolean;
  /** Schemas besides the analysts' that the role may read, through what others granted it. */
  alsoSees: string[];
};

/** Statements of whoever may administer roles. */
export type AdminRefusal = Rejection<"needs_admin" | "too_mighty"> & { statements: string[] };

/** Lets a role read the views, and nothing else that it could not read before. It is made where it is missing. */
export async function grantRole(db: Database, role: AnalystRole): Promise<Granted | AdminRefusal> {
  const found = await findRole(db, role.name);
  if (found?.isMighty === true) {
    const words = `${role.name} may read or change everything here already: choose another name`;
    return { ...reject("too_mighty", words), statements: [] };
  }
  const statements = statementsFor(role, found !== null);
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
  return { wasMade: found === null, alsoSees: await readOthers(db, role.name) };
}

/** Takes the views from a role, which stays. False when it had none. */
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
  });
  return true;
}

function statementsFor({ name, password, timeoutSeconds }: AnalystRole, exists: boolean): string[] {
  const settings = [
    "default_transaction_read_only = on",
    `statement_timeout = '${timeoutSeconds}s'`,
    "idle_in_transaction_session_timeout = '10min'",
    `search_path = ${analyticsSchema}`,
  ];
  return [
    ...(exists
      ? []
      : [
          `create role "${name}" login nosuperuser nocreatedb nocreaterole noreplication connection limit 10`,
        ]),
    ...(password === null ? [] : [`alter role "${name}" password '${verifierOf(password)}'`]),
    ...settings.map((setting) => `alter role "${name}" set ${setting}`),
  ];
}

const ROUNDS = 4096;

/** What PostgreSQL keeps of a password (RFC 5803), so that neither its log nor the wire sees the password itself. */
function verifierOf(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, ROUNDS, 32, "sha256");
  const keyed = (words: string) => createHmac("sha256", salted).update(words).digest();
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64");
  const server = keyed("Server Key").toString("base64");
  return `SCRAM-SHA-256$${ROUNDS}:${salt.toString("base64")}$${stored}:${server}`;
}

async function findRole(session: Session, name: string): Promise<{ isMighty: boolean } | null> {
  const { rows } = await sql<{ isMighty: boolean }>`
    select rolsuper or pg_has_role(oid, current_user, 'member')
           or has_schema_privilege(oid, 'log', 'usage') as "isMighty"
    from pg_roles where rolname = ${name}`.execute(session);
  return rows[0] ?? null;
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
