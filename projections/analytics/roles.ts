import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { sql } from "kysely";
import { type Rejection, reject } from "../domain/rejection.ts";
import type { Database, Session } from "../log/database.ts";
import { analyticsSchema } from "./bind-views.ts";

type AnalystRole = {
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
type AdminRefusal = Rejection<"needs_admin" | "too_mighty"> & { statements: string[] };

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

/** Functions that every role may execute unless it is revoked, and what they are good for. */
const functions: readonly (readonly [pattern: string, power: string])[] = [
  ["^pg_(try_)?advisory_", "take advisory locks"],
  ["^(lo_.*|loread|lowrite)$", "write large objects"],
  ["^pg_notify$", "send notifications by a function"],
  ["^pg_logical_emit_message$", "write to the write-ahead log"],
  ["^(txid_current|pg_current_xact_id)$", "use up transaction ids"],
  ["^pg_export_snapshot$", "export snapshots"],
];

const anyFunction = functions.map(([pattern]) => `(${pattern})`).join("|");

/** The role that ends transactions of analysts: the jobs' own, or this user, who then is all processes. */
const jobsRole = sql`
  coalesce((select s.role::name from ops.service_role s join pg_roles x on x.rolname = s.role
            where s.process = 'jobs'), current_user)`;

/**
 * Statements that take from everybody what no reader needs, and leave it to the current user and the processes that
 * write; to the API they are granted as far as it needs them. None where that is done.
 * They take effect for a database's owner (temporary tables) and for a superuser (functions).
 */
export async function readRevocations(session: Session): Promise<string[]> {
  const { rows } = await sql<{ statements: string[] }>`
    select array_remove(array[
      case when has_database_privilege('public', current_database(), 'temporary')
           then format('grant temporary on database %1$I to %2$s; revoke temporary on database %1$I from public', current_database(), u.users) end,
      case when to_regnamespace('public') is not null and has_schema_privilege('public', 'public', 'create')
           then format('grant create on schema public to %1$I; revoke create on schema public from public', current_user) end,
      (select format('grant execute on function %1$s to %2$s; revoke execute on function %1$s from public',
                     string_agg(p.oid::regprocedure::text, ', ' order by p.oid), u.users)
       from pg_proc p
       where p.pronamespace = 'pg_catalog'::regnamespace and p.proname ~ ${anyFunction}
         and has_function_privilege('public', p.oid, 'execute')
       having count(*) > 0)
    ], null) as statements
    from (
      select string_agg(distinct quote_ident(name), ', ') as users from (
        select current_user::text as name union all
        select role from ops.service_role where process not in ('api', 'console')
      ) named
    ) u`.execute(session);
  return (rows[0]?.statements ?? []).flatMap((both) => both.split("; "));
}

/** What a role may do besides reading, and limits that it lacks, as verbs. Empty for a role as it should be. */
export async function readPowers(session: Session, role: string): Promise<string[]> {
  const { rows } = await sql<{ powers: string[] }>`
    select array_remove(array[
      case when r.rolsuper then 'do anything, as a superuser' end,
      case when r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls
           then 'create roles or databases, replicate or bypass row security' end,
      case when r.rolconnlimit < 0 then 'open any number of connections' end,
      case when l.role is null then 'keep transactions open without a limit' end,
      case when not pg_has_role(j.ends, r.oid, 'usage') then 'keep transactions open: the jobs may not end them' end,
      (select 'use what was granted to ' || string_agg(m.roleid::regrole::text, ', ' order by m.roleid)
       from pg_auth_members m where m.member = r.oid having count(*) > 0),
      case when has_database_privilege(r.oid, current_database(), 'temporary') then 'create temporary tables' end,
      case when has_database_privilege(r.oid, current_database(), 'create') then 'create schemas' end,
      case when to_regnamespace('public') is not null and has_schema_privilege(r.oid, 'public', 'create')
           then 'create tables in public' end
    ] || (
      select array_agg(f.power order by f.power)
      from unnest(${functions.map(([pattern]) => pattern)}::text[], ${functions.map(([, power]) => power)}::text[]) f (pattern, power)
      where exists (select from pg_proc p
                    where p.pronamespace = 'pg_catalog'::regnamespace and p.proname ~ f.pattern
                      and has_function_privilege(r.oid, p.oid, 'execute'))
    ), null) as powers
    from pg_roles r left join ops.analyst l on l.role = r.rolname
    cross join (select ${jobsRole} as ends) j
    where r.rolname = ${role}`.execute(session);
  return rows[0]?.powers ?? [];
}

/** Its own `statement_timeout` ends a statement first, unless the role has changed it. */
const GRACE_SECONDS = 1;
/** A full queue of notifications fails every commit that notifies; who does not read them keeps them in it. */
const QUEUE_SHARE = 0.1;

type EndedTransaction = { role: string; pid: number; seconds: number };

/**
 * Ends the connections of analysts whose transaction has lasted longer than their limit, in any database of the server;
 * all that are in a transaction while the queue of notifications fills up.
 */
export async function endOverdueTransactions(db: Database): Promise<EndedTransaction[]> {
  const { rows } = await sql<EndedTransaction & { ended: boolean }>`
    select a.usename as role, a.pid, pg_terminate_backend(a.pid) as ended,
           extract(epoch from clock_timestamp() - a.xact_start)::int as seconds
    from ops.analyst l
    join pg_roles r on r.rolname = l.role
    join pg_stat_activity a on a.usesysid = r.oid
    where pg_has_role(r.oid, 'usage') and not r.rolsuper
      and (a.xact_start < clock_timestamp() - make_interval(secs => l.timeout_seconds + ${GRACE_SECONDS})
           or (a.xact_start is not null and pg_notification_queue_usage() > ${QUEUE_SHARE}))`.execute(
    db,
  );
  return rows
    .filter(({ ended }) => ended)
    .map(({ role, pid, seconds }) => ({ role, pid, seconds }));
}

/** Roles with access to the views, or with a limit, that are none of the service's own. */
export async function readAnalysts(db: Database): Promise<string[]> {
  const { rows } = await sql<{ role: string }>`
    select r.rolname as role from pg_namespace n cross join aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
    where n.nspname = 'analytics' and a.grantee <> n.nspowner
      and r.rolname not in (select role from ops.service_role)
    union
    select l.role from ops.analyst l join pg_roles r on r.rolname = l.role
    order by 1`.execute(db);
  return rows.map(({ role }) => role);
}

const ROUNDS = 4096;

/** The SCRAM verifier of a password (RFC 5803), so that neither logs nor the wire contain the password. */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, ROUNDS, 32, "sha256");
  const keyed = (words: string) => createHmac("sha256", salted).update(words).digest();
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64");
  const server = keyed("Server Key").toString("base64");
  return `SCRAM-SHA-256$${ROUNDS}:${salt.toString("base64")}$${stored}:${server}`;
}
