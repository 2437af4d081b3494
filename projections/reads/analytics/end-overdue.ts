import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";

/** Its own `statement_timeout` ends a statement first, unless the role has changed it. */
const GRACE_SECONDS = 1;
/** A full queue of notifications fails every commit that notifies; who does not read them keeps them in it. */
const QUEUE_SHARE = 0.1;

export type EndedTransaction = { role: string; pid: number; seconds: number };

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
