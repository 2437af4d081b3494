import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";

export type BusyCaller = { caller: string; used: number; perMinute: number; beganAt: Date };

/** Who used most of the present minute: addresses, and keys by the start of their hash. */
export async function readBusyCallers(db: Database, most: number): Promise<BusyCaller[]> {
  const { rows } = await sql<BusyCaller>`
    select caller, used, per_minute as "perMinute", began_at as "beganAt" from access.minute
    where began_at > now() - interval '1 minute' order by used desc, caller limit ${most}`.execute(
    db,
  );
  return rows;
}

export type KeyUsage = { keyId: number; today: bigint; yesterday: bigint };

/** The keys with most requests of today and yesterday, UTC. */
export async function readKeyUsage(db: Database, most: number): Promise<KeyUsage[]> {
  const { rows } = await sql<KeyUsage>`
    select key_id as "keyId", coalesce(sum(requests) filter (where u.day = current.day), 0)::bigint as today,
           coalesce(sum(requests) filter (where u.day = current.day - 1), 0)::bigint as yesterday
    from access.usage u cross join (select (now() at time zone 'utc')::date as day) current
    where u.day >= current.day - 1
    group by 1 order by sum(requests) desc, 1 limit ${most}`.execute(db);
  return rows;
}
