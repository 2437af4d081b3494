import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { compactedAt, compactionCutoff, isUnfilledEnd } from "#projections/order-state/compaction.ts";

/** The time of the latest clock tick in the log, unix seconds; 0 before the first one. */
export async function readClock(db: Database): Promise<bigint> {
  const { rows } = await sql<{ clock: bigint }>`
    select coalesce(max(amount), 0)::bigint as clock from log.fact where kind = ${kindLiteral("clock_ticked")}`.execute(
    db,
  );
  return rows[0]?.clock ?? 0n;
}

/** The next time after one, unix seconds, at which an order starts, ends or is compacted; null when none does. */
export async function readNextBoundary(db: Database, after: bigint): Promise<bigint | null> {
  const boundariesOf = (table: string) => sql`
    select min(end_time) as time from ${sql.table(table)}
    where status in ('active', 'inactive') and end_time > ${after}
    union all
    select min(start_time) from ${sql.table(table)} where reason = 'not_started' and start_time > ${after}
    union all
    select ${compactedAt(sql`min(end_time)`)} from ${sql.table(table)}
    where ${sql.raw(isUnfilledEnd)} and end_time >= ${compactionCutoff(sql`${after}::bigint`)}`;
  const { rows } = await sql<{ time: bigint | null }>`
    select min(time) as time
    from (${boundariesOf("listings.listing")} union all ${boundariesOf("bids.bid")}) boundary`.execute(
    db,
  );
  return rows[0]?.time ?? null;
}
