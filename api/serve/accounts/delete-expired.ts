import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { timeOfBoth } from "../keys/clock-steps.ts";
import { idleDays, maxAgeDays } from "./sessions.ts";
import { placeDays } from "./sign-in/places.ts";

/** Days that expired tokens are retained. */
const retentionDays = 30;

/** Deletes expired attempts, links, sessions, tokens and places. `now`: of this process. `skip locked` lets any number of processes run it at once. */
export async function deleteExpiredAccounts(db: Database, now: Date): Promise<void> {
  const time = timeOfBoth(now);
  const statements = [
    sql`delete from access.attempt where subject in (
      select subject from access.attempt where ends_at < ${time} limit 20000 for update skip locked)`,
    sql`delete from access.link where hash in (
      select hash from access.link where expires_at < ${time} limit 20000 for update skip locked)`,
    sql`delete from access.session where id in (
      select id from access.session
      where seen_at < ${time} - make_interval(days => ${idleDays})
         or created_at < ${time} - make_interval(days => ${maxAgeDays})
      limit 20000 for update skip locked)`,
    sql`delete from access.bearer_token where id in (
      select id from access.bearer_token
      where expires_at < ${time} - make_interval(days => ${retentionDays})
      limit 20000 for update skip locked)`,
    sql`delete from access.pending_sign_in where hash in (
      select hash from access.pending_sign_in where expires_at < ${time}
      limit 20000 for update skip locked)`,
    sql`delete from access.place where (account_id, network) in (
      select account_id, network from access.place
      where last_at < ${time} - make_interval(days => ${placeDays})
      limit 20000 for update skip locked)`,
  ];
  for (const statement of statements) await statement.execute(db);
}
