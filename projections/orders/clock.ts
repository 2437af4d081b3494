import { type RawBuilder, sql } from "kysely";
import { clockAt } from "../engine/fact-window.ts";
import type { FactWindow } from "../engine/projection.ts";
import type { Database } from "../log/database.ts";
import { kindLiteral } from "../log/fact-kinds.ts";

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

/** How long after its end time an ended order without a fill leaves the projections; the log keeps its facts. */
export const compactionDelaySeconds = 30 * 86_400;

/** Orders leave by whole hours of their end times, so that one clock tick covers all of an hour. */
const [hour, delay] = [sql.lit(3_600), sql.lit(compactionDelaySeconds)];

type Window = Parameters<typeof clockAt>[0];

/** Ended orders without a fill have left at a clock when their end time is below this. */
function compactionCutoff(clock: RawBuilder<unknown>): RawBuilder<bigint> {
  return sql`((${clock} - ${delay}) / ${hour} * ${hour})`;
}

/** When an order with this end time leaves, unix seconds. */
function compactedAt(endTime: RawBuilder<unknown>): RawBuilder<bigint> {
  return sql`((${endTime} / ${hour} + 1) * ${hour} + ${delay})`;
}

/** Ended orders without a fill, worded as the predicate of a partial index. */
export const isUnfilledEnd = "status in ('expired', 'cancelled') and filled = 0";

/** Whether an order with these columns has left the projections. */
export function isCompacted(window: Window): RawBuilder<boolean> {
  return sql`(${sql.raw(isUnfilledEnd)} and end_time < (select ${compactionCutoff(clockAt(window))}))`;
}

/** The stored orders `o` that leave with a window; only for windows with a clock tick. */
export function compactedWith(window: FactWindow): RawBuilder<unknown> {
  return sql`o.status in ('expired', 'cancelled') and o.filled = 0 and o.end_time < (select ${compactionCutoff(clockAt(window))})`;
}

/**
 * Hashes of orders whose fill became known so late that they may have left: `op backfill` finds old events. They
 * return with their terms.
 */
export function lateFills(window: FactWindow): RawBuilder<unknown> {
  const { changes } = window;
  return sql`
    select c.order_hash from ${changes} c join log.block b on b.block_id = c.block_id
    where c.kind = ${kindLiteral("order_fulfilled")}
      and b.timestamp < to_timestamp((select ${compactionCutoff(clockAt(window))}))
    union
    select c.order_hash from ${changes} c
    where c.kind = ${kindLiteral("order_status_read")}`;
}

export const lateFillKinds = ["order_fulfilled", "order_status_read"] as const;
