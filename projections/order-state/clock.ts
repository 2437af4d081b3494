import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database.ts";

/** The latest moment known to have passed at a position, unix seconds; 0 before the first tick. */
export function clockAt(upTo: bigint): RawBuilder<bigint> {
  return sql`coalesce((
    select f.amount from log.fact f where f.kind = 81 and f.position <= ${upTo} order by f.amount desc limit 1
  ), 0)::bigint`;
}

/** The latest moment that the log says has passed, unix seconds; 0 before the first tick. */
export async function readClock(db: Database): Promise<bigint> {
  const { rows } = await sql<{ clock: bigint }>`
    select coalesce(max(amount), 0)::bigint as clock from log.fact where kind = 81`.execute(db);
  return rows[0]?.clock ?? 0n;
}

/** The next moment after one, unix seconds, at which an order of the book begins or ends; null when none does. */
export async function readNextBoundary(db: Database, after: bigint): Promise<bigint | null> {
  const bookOf = (table: string) => sql`
    select min(end_time) as moment from ${sql.table(table)}
    where status in ('active', 'inactive') and end_time > ${after}
    union all
    select min(start_time) from ${sql.table(table)} where reason = 'not_started' and start_time > ${after}`;
  const { rows } = await sql<{ moment: bigint | null }>`
    select min(moment) as moment from (${bookOf("listings.listing")} union all ${bookOf("bids.bid")}) boundary
  `.execute(db);
  return rows[0]?.moment ?? null;
}
