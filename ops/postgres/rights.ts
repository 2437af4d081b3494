import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import type { Database, Session } from "#projections/log/database.ts";
import { type DatabaseRoles, processNames, processRoles } from "./database-roles.ts";

const LOCK_TIMEOUT_MS = 10_000;

/**
 * Gives each role its rights and takes others from it, unless that was done and nothing differs since. Returns what the
 * session's role could not correct.
 */
export async function applyRights(db: Database, roles: DatabaseRoles): Promise<WrongRight[]> {
  const digest = createHash("sha256").update(rightsScript(roles)).digest("hex");
  const isApplied = (await readDigest(db)) === digest;
  if (isApplied && (await findWrongRights(db, roles)).length === 0) return [];
  // Rights on an object are its owner's to give: owners come first, and stay where the rest is an administrator's.
  await inTransaction(db, rightsStatements(roles, "owners"));
  await inTransaction(db, [
    ...rightsStatements(roles, "all"),
    `comment on table ops.service_role is '${digest}'`,
  ]).catch((error: Error & { code?: string }) => {
    if (error.code !== "42501") throw error;
  });
  return await findWrongRights(db, roles);
}

/** Of the script that was applied last. */
async function readDigest(session: Session): Promise<string | null> {
  const { rows } = await sql<{ digest: string | null }>`
    select obj_description('ops.service_role'::regclass) as digest`.execute(session);
  return rows[0]?.digest ?? null;
}

/** Two that grant at once would fail. */
async function inTransaction(db: Database, statements: readonly string[]): Promise<void> {
  await db.transaction().execute(async (session) => {
    await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(session);
    await sql`lock table ops.service_role in share row exclusive mode`.execute(session);
    for (const one of statements) await sql.raw(one).execute(session);
  });
}

/** What a role may do, or may not, unlike `roles.sql`. */
type WrongRight = { role: string; finding: string };

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

const script = readFileSync(join(import.meta.dirname, "roles.sql"), "utf8");
const userNames = new RegExp(
  ["'service_(owner|…)'", "\\bservice_(owner|…)\\b"]
    .join("|")
    .replaceAll("…", processNames.join("|")),
  "g",
);
/** Users and owners, which come before migrations; rights name tables, which come after them. */
const startOfRights = "-- 2. Rights";

/** `roles.sql` with the names of these roles. */
export function rightsScript(roles: DatabaseRoles): string {
  const odd = Object.values(roles).find((name) => !/^[\p{L}\p{N}_.@-]+$/u.test(name));
  if (odd !== undefined) throw new Error(`database user "${odd}": expected letters and digits`);
  return script.replace(
    userNames,
    (_, literal?: keyof DatabaseRoles, name?: keyof DatabaseRoles) =>
      literal === undefined ? `"${roles[name ?? "owner"]}"` : `'${roles[literal]}'`,
  );
}

/** Its statements, each of which a connection may prepare; `owners`: those that give tables to their owners alone. */
export function rightsStatements(roles: DatabaseRoles, part: "all" | "owners"): string[] {
  const script = rightsScript(roles);
  const text = part === "all" ? script : (script.split(startOfRights)[0] ?? "");
  // What is within a block is indented.
  return text
    .split(/;\n(?! |begin|exception|end )/)
    .filter((one) => one.replace(/--.*$/gm, "").trim() !== "");
}

type GrantedRight = {
  role: string;
  privilege: string;
  /** What it is on. `tables` and `schemas`: what `creator` will create. */
  kind: string;
  name: string | null;
  creator: string | null;
};

const grantStatement =
  /(?:alter default privileges for role ([^;]+?)(?: in schema ([^;]+?))? )?grant ([a-z, ]+) on (?:(all tables in schema|schemas?|tables|function|database) )?((?:(?! to )[^;'])*?) ?to ([^;']+)[;']/g;

/** The rights that the script grants by name. */
function grantedRights(roles: DatabaseRoles): GrantedRight[] {
  const text = rightsScript(roles).replace(/--.*$/gm, "").replace(/\s+/g, " ");
  return [...text.matchAll(grantStatement)].flatMap(
    ([, makers, within, privileges, kind = "table", objects = "", grantees]) => {
      const names =
        kind === "function" ? (objects.match(/[\w.]+\(.*?\)/g) ?? []) : listOf(within ?? objects);
      const places = names.length === 0 ? [null] : names;
      const creators = makers === undefined ? [null] : listOf(makers);
      return listOf(grantees).flatMap((role) =>
        listOf(privileges).flatMap((privilege) =>
          places.flatMap((name) =>
            creators.map((creator) => ({ role, privilege, kind, name, creator })),
          ),
        ),
      );
    },
  );
}

const listOf = (text = ""): string[] =>
  text.split(",").flatMap((one) => one.replaceAll('"', "").trim() || []);
