import { sql } from "kysely";
import type { Database, Session } from "#projections/log/database.ts";

/** Facts of the log that a step reads, in a transaction of its own. */
export async function countFactsRead(
  db: Database,
  step: (session: Database) => Promise<unknown>,
): Promise<number> {
  return await db.transaction().execute(async (session) => {
    const earlier = await readCounter(session);
    await step(session);
    return (await readCounter(session)) - earlier;
  });
}

/** Of the session; also in transactions that are not counted elsewhere yet. */
async function readCounter(session: Session): Promise<number> {
  const { rows } = await sql<{ read: bigint }>`
    select coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::bigint as read from pg_stat_xact_user_tables
    where schemaname = 'log' and relname like 'fact%'`.execute(session);
  return Number(rows[0]?.read);
}
