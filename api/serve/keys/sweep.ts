import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";

/** Days for which an instant key that has expired is still told so. */
const rememberedDays = 30;

/**
 * Removes what is of no use any more: minutes that are over, the addresses instant keys were given to a day ago, and
 * instant keys that expired long ago. Any number of processes may do it at once; none waits for another.
 */
export async function sweepAccess(db: Database): Promise<void> {
  await sql`
    delete from access.minute where caller in (
      select caller from access.minute where began_at < now() - interval '2 minutes'
      limit 20000 for update skip locked)`.execute(db);
  await sql`
    update access.key set created_from = null where id in (
      select id from access.key where created_from is not null and created_at < now() - interval '25 hours'
      limit 20000 for update skip locked)`.execute(db);
  await sql`
    delete from access.key where id in (
      select id from access.key
      where type = 'instant' and expires_at < now() - make_interval(days => ${rememberedDays})
      limit 20000 for update skip locked)`.execute(db);
}
