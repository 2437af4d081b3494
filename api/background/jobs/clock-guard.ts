import { sql } from "kysely";
import type { Logger } from "pino";
import type { Database } from "#projections/log/database.ts";

/** How far ahead of the database's clock a time may be that is appended. */
const maxAheadMs = 15 * 60_000;

/** Whether a time of this machine's clock may be appended. */
export type ClockGuard = (unixMs: number) => Promise<boolean>;

/**
 * Compares times with the database's clock: a tick or snapshot is never retracted and the latest one counts for ever, so
 * that a clock that was a year ahead for a second would end all orders. Logs once until the clock is right again.
 */
export function openClockGuard(db: Database, logger: Logger): ClockGuard {
  let isAhead = false;
  return async (unixMs) => {
    const { rows } = await sql<{ unixMs: number }>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as "unixMs"`.execute(db);
    const aheadMs = Math.round(unixMs - (rows[0]?.unixMs ?? 0));
    const wasAhead = isAhead;
    isAhead = aheadMs > maxAheadMs;
    if (isAhead && !wasAhead)
      logger.error({ aheadMs, maxAheadMs }, "clock is ahead of the database's, time not appended");
    return !isAhead;
  };
}
