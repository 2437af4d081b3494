import { sql } from "kysely";
import type { Session } from "../../../projections/database.ts";
import type { Privilege } from "./rights.ts";
import type { DefaultRight, TableName } from "./wanted-rights.ts";

/** Whatever can be owned, as its kind and name in SQL. */
export type OwnedObject = { schema: string; kind: string; name: string; owner: string };

/** Schemas, and what they hold, of which only independent objects: indexes and identities follow their table. */
export async function readOwners(session: Session): Promise<OwnedObject[]> {
  const { rows } = await sql<OwnedObject>`
    with space as (
      select oid, nspname, nspowner from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
    )
    select n.nspname as schema, o.kind, o.name, pg_get_userbyid(o.owner)::text as owner
    from space n cross join lateral (
      select 0 as rank, 'schema' as kind, quote_ident(n.nspname) as name, n.nspowner as owner
      union all
      select 1, 'table', format('%I.%I', n.nspname, c.relname), c.relowner from pg_class c
      where c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
        and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
                          and c.relkind = 'S' and d.deptype in ('a', 'i'))
      union all
      select 2, 'routine', p.oid::regprocedure::text, p.proowner from pg_proc p where p.pronamespace = n.oid
      union all
      select 3, 'type', format('%I.%I', n.nspname, t.typname), t.typowner from pg_type t
      left join pg_class c on c.oid = t.typrelid
      where t.typnamespace = n.oid and (t.typtype in ('e', 'd', 'r') or c.relkind = 'c')
    ) o
    order by o.rank, n.nspname, o.name`.execute(session);
  return rows;
}

export type TableRights = TableName & { role: string; owner: string; has: Privilege[] };

/** What each role may do with each table and view of the named schemas, by grants of any kind. */
export async function readTableRights(
  session: Session,
  roles: readonly string[],
  schemas: readonly string[],
): Promise<TableRights[]> {
  const { rows } = await sql<TableRights>`
    select n.nspname as schema, c.relname as name, pg_get_userbyid(c.relowner)::text as owner, r.role,
           array(select p from unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE}'::text[]) p
                 where has_table_privilege(r.role, c.oid, p)) as has
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    cross join unnest(${roles}::text[]) r (role)
    where n.nspname = any (${schemas}::text[]) and c.relkind in ('r', 'p', 'v', 'm', 'f')
    order by 1, 2, 4`.execute(session);
  return rows;
}

export type SchemaRights = { schema: string; owner: string; role: string; has: string[] };

export async function readSchemaRights(
  session: Session,
  roles: readonly string[],
): Promise<SchemaRights[]> {
  const { rows } = await sql<SchemaRights>`
    select n.nspname as schema, pg_get_userbyid(n.nspowner)::text as owner, r.role,
           array(select p from unnest('{USAGE,CREATE}'::text[]) p where has_schema_privilege(r.role, n.oid, p)) as has
    from pg_namespace n cross join unnest(${roles}::text[]) r (role)
    where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    order by 1, 3`.execute(session);
  return rows;
}

export type FunctionRights = { name: string; signature: string; role: string };

/** Functions of the log that write it, with each role that may call one; and functions of PostgreSQL by signature. */
export async function readFunctionRights(
  session: Session,
  roles: readonly string[],
  system: readonly string[],
): Promise<FunctionRights[]> {
  const { rows } = await sql<FunctionRights>`
    select p.proname as name, p.oid::regprocedure::text as signature, r.role
    from pg_proc p cross join unnest(${roles}::text[]) r (role)
    where p.pronamespace = 'log'::regnamespace and p.prosecdef and has_function_privilege(r.role, p.oid, 'execute')
    union all
    select s.name, 'pg_catalog.' || s.name, r.role
    from unnest(${system}::text[]) s (name) cross join unnest(${roles}::text[]) r (role)
    where has_function_privilege(r.role, 'pg_catalog.' || s.name, 'execute')`.execute(session);
  return rows;
}

export type RoleFacts = {
  role: string;
  exists: boolean;
  /** Superuser, or another attribute that no process needs. */
  isMighty: boolean;
  /** Roles whose rights it has by membership, of those asked for. */
  memberOf: string[];
  onDatabase: string[];
};

export async function readRoleFacts(
  session: Session,
  roles: readonly string[],
  others: readonly string[],
): Promise<RoleFacts[]> {
  const { rows } = await sql<RoleFacts>`
    select named.role, r.oid is not null as exists,
           coalesce(r.rolsuper or r.rolcreatedb or r.rolcreaterole or r.rolreplication or r.rolbypassrls, false) as "isMighty",
           array(select o.role from unnest(${others}::text[]) o (role) join pg_roles x on x.rolname = o.role
                 where x.oid <> r.oid and pg_has_role(r.oid, x.oid, 'usage')) as "memberOf",
           array(select p from unnest('{CREATE,TEMPORARY}'::text[]) p
                 where has_database_privilege(r.oid, current_database(), p)) as "onDatabase"
    from unnest(${roles}::text[]) named (role) left join pg_roles r on r.rolname = named.role`.execute(
    session,
  );
  return rows;
}

export async function readDefaults(session: Session): Promise<DefaultRight[]> {
  const { rows } = await sql<DefaultRight>`
    select c.rolname as creator, g.rolname as grantee, a.privilege_type as privilege, d.defaclobjtype::text as objects,
           n.nspname as schema
    from pg_default_acl d cross join aclexplode(d.defaclacl) a
    join pg_roles c on c.oid = d.defaclrole join pg_roles g on g.oid = a.grantee
    left join pg_namespace n on n.oid = d.defaclnamespace`.execute(session);
  return rows;
}

/** Roles of analysts, whose transactions the jobs end at their limits. */
export async function readAnalystRoles(session: Session): Promise<string[]> {
  const { rows } = await sql<{ role: string }>`
    select a.role from ops.analyst a join pg_roles r on r.rolname = a.role`.execute(session);
  return rows.map(({ role }) => role);
}
