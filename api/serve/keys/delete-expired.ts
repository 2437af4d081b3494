import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { timeOfBoth } from "./clock-steps.ts";
import { requestDays } from "./request-log.ts";

/** Days for which an expired instant key is still answered with `expired_key`. */
const retentionDays = 30;

/**
 * Deletes past minutes, the addresses of expired instant keys, old requests of keys, and instant keys that expired long
 * ago. `now`: of this process. Any number of processes may run it at once; `skip locked` keeps them from waiting for
 * each other.
 */
export async function deleteExpiredAccess(db: Database, now: Date): Promise<void> {
  const time = timeOfBoth(now);
  await sql`
    delete from access.minute where caller in (
      select caller from access.minute where began_at < ${time} - interval '2 minutes'
      limit 20000 for update skip locked)`.execute(db);
  await sql`
    update access.key set created_from = null where id in (
      select id from access.key where created_from is not null and expires_at < ${time}
      limit 20000 for update skip locked)`.execute(db);
  await sql`
    delete from access.key where id in (
      select id from access.key
      where type = 'instant' and expires_at < ${time} - make_interval(days => ${retentionDays})
      limit 20000 for update skip locked)`.execute(db);
  await sql`
    delete from access.key_request where id in (
      select id from access.key_request where at < ${time} - make_interval(days => ${requestDays})
      limit 20000 for update skip locked)`.execute(db);
}
