import { sql } from "kysely";
import type { Session } from "#projections/log/database.ts";
import { type DatabaseRoles, processRoles } from "./database-roles.ts";
import { grantedRights } from "./rights-script.ts";

/** What a role may do, or may not, unlike `roles.sql`. */
export type WrongRight = { role: string; finding: string };

/** Compares what each process's role may really do, by grants of any kind, with what `roles.sql` grants it. */
export async function findWrongRights(
  session: Session,
  roles: DatabaseRoles,
): Promise<WrongRight[]> {
  const wrong = await findWrongRoles(session, roles);
  // A superuser may do anything, and of a role that does not exist nothing can be asked.
  if (wrong.some(({ hidesRights }) => hidesRights)) return wrong;
  return [
    ...wrong,
    ...(await findWrongOwners(session, roles)),
    ...(await findWrongGrants(session, roles)),
  ];
}

async function findWrongRoles(session: Session, roles: DatabaseRoles) {
  const { rows } = await sql<WrongRight & { hidesRights: boolean }>`
    with service as (select r.role, o.oid, o.rolsuper or o.rolcreatedb or o.rolcreaterole or o.rolreplication or o.rolbypassrls as is_mighty
                     from unnest(${processRoles(roles)}::text[]) r (role) left join pg_roles o on o.rolname = r.role)
    select role, 'does not exist' as finding, true as "hidesRights" from service where oid is null
    union all
    select role, 'is a superuser, or may create roles or databases, replicate or bypass security', true from service where is_mighty
    union all
    select role, 'is a member of ' || o.rolname, false from service s join pg_roles o on o.oid <> s.oid
    where not is_mighty and o.rolname = any (${Object.values(roles)}::text[]) and pg_has_role(s.oid, o.oid, 'usage')
    union all
    select ${roles.owner}, 'is not a member of ' || role, false from service
    where oid is not null and not pg_has_role(${roles.owner}, oid, 'usage')
    union all
    select ${roles.jobs}, 'is not a member of ' || a.role, false from ops.analyst a join pg_roles o on o.rolname = a.role
    where not pg_has_role(${roles.jobs}, o.oid, 'usage')`.execute(session);
  return rows;
}

/** Each role makes and drops its own tables, as a rebuild does; what one works on with those of another fails halfway. */
async function findWrongOwners(session: Session, roles: DatabaseRoles): Promise<WrongRight[]> {
  const { rows } = await sql<WrongRight>`
    with space as (
      select n.oid, n.nspname as name, n.nspowner, case
        when n.nspname in ('log', 'ops', 'engine', 'rarity', 'access') then ${roles.owner}
        when n.nspname ~ '^ponder_' then ${roles.indexer}
        when n.nspname = 'analytics' or n.nspname in (select projection from engine.checkpoint) then ${roles.projector}
        end as role
      from pg_namespace n
    )
    select s.role, format('does not own %s, which is %s''s', o.subject, pg_get_userbyid(o.owner)) as finding
    from space s cross join lateral (
      select 'schema ' || s.name as subject, s.nspowner as owner
      union all
      select c.oid::regclass::text, c.relowner from pg_class c where c.relnamespace = s.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
    ) o
    where pg_get_userbyid(o.owner) <> s.role`.execute(session);
  return rows;
}

/** Reading more than is granted is a fault only where people's data is. */
async function findWrongGrants(session: Session, roles: DatabaseRoles): Promise<WrongRight[]> {
  const { rows } = await sql<WrongRight>`
    with granted as materialized (
      select role, privilege, kind, name, creator
      from jsonb_to_recordset(${JSON.stringify(grantedRights(roles))}::jsonb)
        as r (role text, privilege text, kind text, name text, creator text)
    ),
    service as (select role from unnest(${processRoles(roles)}::text[]) role),
    named as (select distinct name from granted where kind = 'all tables in schema' and name !~ '%'),
    -- Schemas by their owner, but those of the script, which are the owner's whatever else that role is.
    space as (
      select n.oid, n.nspname::text as name, case when s.name is null then pg_get_userbyid(n.nspowner) end as creator
      from pg_namespace n left join named s on s.name = n.nspname
      where s.name is not null or n.nspname !~ '^pg_' and pg_get_userbyid(n.nspowner) in (select creator from granted)
    ),
    actual as (
      select s.role, p.privilege, format('%I.%I', n.name, c.relname) as subject, c.relowner as owner,
             has_table_privilege(s.role, c.oid, p.privilege) as has, n.name = 'access' as is_private,
             exists (select from granted g where g.role = s.role and g.privilege = p.privilege and (
               g.kind = 'table' and g.name = n.name || '.' || c.relname
               or g.kind = 'all tables in schema' and g.name = n.name
               or g.kind = 'tables' and g.name is null and g.creator = n.creator)) as wants
      from service s cross join unnest('{select,insert,update,delete,truncate}'::text[]) p (privilege)
      cross join space n join pg_class c on c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
      union all
      select s.role, p.privilege, 'schema ' || n.name, (select nspowner from pg_namespace o where o.oid = n.oid),
             has_schema_privilege(s.role, n.oid, p.privilege), p.privilege = 'create',
             exists (select from granted g where g.role = s.role and g.privilege = p.privilege and (
               g.kind = 'schema' and g.name = n.name or g.kind = 'schemas' and g.creator = n.creator))
      from service s cross join unnest('{usage,create}'::text[]) p (privilege) cross join space n
      union all
      select s.role, p.privilege, 'the database', null, has_database_privilege(s.role, current_database(), p.privilege), true,
             exists (select from granted g where g.role = s.role and g.privilege = p.privilege and g.kind = 'database')
      from service s cross join unnest('{create,temporary}'::text[]) p (privilege)
      union all
      select s.role, 'execute', f.oid::regprocedure::text, f.proowner, has_function_privilege(s.role, f.oid, 'execute'),
             f.pronamespace = 'log'::regnamespace,
             exists (select from granted g where g.role = s.role and g.kind = 'function' and to_regprocedure(g.name) = f.oid)
      from service s cross join pg_proc f
      where f.pronamespace = 'log'::regnamespace
         or f.oid in (select to_regprocedure(name) from granted where kind = 'function')
    )
    select role, 'may ' || case when has then '' else 'not ' end || string_agg(privilege, ', ' order by privilege) || ' on ' || subject as finding
    from actual
    where has <> wants and (not has or is_private or privilege not in ('select', 'usage', 'execute'))
      and (owner is null or role <> pg_get_userbyid(owner))
    group by role, has, subject order by 1, 2`.execute(session);
  return rows;
}
