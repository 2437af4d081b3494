import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";
import { requestDays } from "./request-log.ts";

/** Days for which an expired instant key is still answered with `expired_key`. */
const retentionDays = 30;

/**
 * Deletes past minutes, the addresses of expired instant keys, old requests of keys, and instant keys that expired long
 * ago. Any number of processes may run it at once; `skip locked` keeps them from waiting for each other.
 */
export async function deleteExpiredAccess(db: Database): Promise<void> {
  await sql`
    delete from access.minute where caller in (
      select caller from access.minute where began_at < now() - interval '2 minutes'
      limit 20000 for update skip locked)`.execute(db);
  await sql`
    update access.key set created_from = null where id in (
      select id from access.key where created_from is not null and expires_at < now()
      limit 20000 for update skip locked)`.execute(db);
  await sql`
    delete from access.key where id in (
      select id from access.key
      where type = 'instant' and expires_at < now() - make_interval(days => ${retentionDays})
      limit 20000 for update skip locked)`.execute(db);
  await sql`
    delete from access.key_request where id in (
      select id from access.key_request where at < now() - make_interval(days => ${requestDays})
      limit 20000 for update skip locked)`.execute(db);
}
