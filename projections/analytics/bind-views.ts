import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import { schemaOf, versions } from "../log/versions.ts";
import { quoted, statementsOf, type View } from "./view.ts";
import {
  balancesView,
  bidsView,
  coinPricesView,
  collectionsView,
  floorsView,
  listingsView,
  salesView,
  tokensView,
  transfersView,
} from "./views.ts";

/** The schemas of the serving tables. */
const served = Object.keys(versions).map(schemaOf);

/** The schema that analysts read. */
export const analyticsSchema = "analytics";
const next = `${analyticsSchema}_next`;

const views: readonly View[] = [
  salesView,
  transfersView,
  listingsView,
  bidsView,
  tokensView,
  balancesView,
  collectionsView,
  floorsView,
  coinPricesView,
];

const statements = views.flatMap((view) => statementsOf(next, view));
const fingerprint = createHash("sha256").update(statements.join(";")).digest("hex").slice(0, 16);
const schemaComment = `Views for analysts; units are in the column names (${fingerprint})`;

/** Milliseconds to wait for the lock of a replaced view that is being read, before leaving it for the next time. */
const DROP_TIMEOUT_MS = 20;

/**
 * Creates the views over the serving tables: a view follows its tables when these are renamed. The schema is swapped
 * whole, so no reader blocks it, and roles keep their grants. While tables that a view needs are missing or of another
 * version, the existing views stay.
 */
export async function bindViews(session: Session): Promise<void> {
  await sql.raw(swapViews).execute(session);
}

/** The same, unless the views are already those of this version over the serving tables. */
export async function bindViewsIfStale(session: Session): Promise<void> {
  if (!(await areViewsBound(session))) await bindViews(session);
}

export async function areViewsBound(session: Session): Promise<boolean> {
  const { rows } = await sql<{ isBound: boolean }>`
    select coalesce(obj_description(n.oid, 'pg_namespace') = ${schemaComment}, false)
           and (select count(*) from pg_class v where v.relnamespace = n.oid and v.relkind = 'v') = ${views.length}
           and not exists (
             select from pg_class v
             join pg_rewrite r on r.ev_class = v.oid
             join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
                             and d.refclassid = 'pg_class'::regclass
             join pg_class t on t.oid = d.refobjid
             where v.relnamespace = n.oid and t.relnamespace <> n.oid
               and (t.relnamespace::regnamespace::text <> all (${["log", "engine", ...served]}::text[])
                    -- The log was moved to partitions: the view is still over the first one alone.
                    or t.relispartition)
           ) as "isBound"
    from pg_namespace n where n.nspname = ${analyticsSchema}`.execute(session);
  return rows[0]?.isBound ?? false;
}

const body = `
declare
  previous_timeout text := current_setting('lock_timeout');
  role record;
  replaced record;
begin
  lock table ops.analyst in share row exclusive mode;
  begin
    execute 'create schema ${next}';
    ${statements.map((statement) => `execute ${quoted(statement)};`).join("\n    ")}
    execute ${quoted(`comment on schema ${next} is ${quoted(schemaComment)}`)};
    for role in
      select distinct r.rolname as name
      from pg_namespace n cross join aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
      where n.nspname = '${analyticsSchema}' and a.grantee <> n.nspowner and a.privilege_type = 'USAGE'
    loop
      execute format('grant usage on schema ${next} to %I', role.name);
      execute format('grant select on all tables in schema ${next} to %I', role.name);
    end loop;
    if to_regnamespace('${analyticsSchema}') is not null then
      execute format('alter schema ${analyticsSchema} rename to %I', '${analyticsSchema}_replaced_' || txid_current());
    end if;
    execute 'alter schema ${next} rename to ${analyticsSchema}';
  exception when undefined_table or undefined_column or invalid_schema_name or undefined_function
                 or datatype_mismatch then
    null;
  end;
  for replaced in select nspname as name from pg_namespace where nspname like '${analyticsSchema}\\_replaced\\_%' loop
    begin
      perform set_config('lock_timeout', '${DROP_TIMEOUT_MS}ms', true);
      execute format('drop schema %I cascade', replaced.name);
      perform set_config('lock_timeout', previous_timeout, true);
    exception when lock_not_available then
      null;
    end;
  end loop;
end`;

const swapViews = `do $swap$${body}$swap$`;
