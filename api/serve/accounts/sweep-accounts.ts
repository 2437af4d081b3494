import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";
import { idleDays, longestDays } from "./sessions.ts";

/** Days for which a token that has ended is kept. */
const rememberedDays = 30;

/** Removes what is over. Any number of processes may do it at once; none waits for another. */
export async function sweepAccounts(db: Database): Promise<void> {
  const statements = [
    sql`delete from access.attempt where subject in (
      select subject from access.attempt where ends_at < now() limit 20000 for update skip locked)`,
    sql`delete from access.link where hash in (
      select hash from access.link where expires_at < now() limit 20000 for update skip locked)`,
    sql`delete from access.session where id in (
      select id from access.session
      where seen_at < now() - make_interval(days => ${idleDays})
         or created_at < now() - make_interval(days => ${longestDays})
      limit 20000 for update skip locked)`,
    sql`delete from access.bearer_token where id in (
      select id from access.bearer_token
      where expires_at < now() - make_interval(days => ${rememberedDays})
      limit 20000 for update skip locked)`,
  ];
  for (const statement of statements) await statement.execute(db);
}
