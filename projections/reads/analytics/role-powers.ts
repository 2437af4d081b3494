import { sql } from "kysely";
import type { Session } from "#projections/log/database.ts";

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
export const jobsRole = sql`
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
