import { type RawBuilder, sql } from "kysely";

/** The current time for tests; null: the database's clock, which all processes share. */
export type Clock = () => Date | null;

export const currentTime = (clock: Clock): RawBuilder<Date> =>
  sql<Date>`coalesce(${clock()}::timestamptz, now())`;

/**
 * Seconds by which a stored window may begin later than a statement does: a statement that waits for the row of another
 * began before it. Longer than a statement may take; what is beyond it was written before the database's clock was set
 * back, and would else be in force until the clock is there again.
 */
const maxWaitSeconds = 10;

/** SQL: whether the stored window `row` began later than now, of an upsert that proposes one that begins now. */
export const beganLater = (row: string): RawBuilder<boolean> =>
  sql.raw(`${row}.began_at > excluded.began_at + interval '${maxWaitSeconds} seconds'`);

/**
 * SQL: the time by which something must be over to be deleted for good: the database's, or `now` of this process where
 * that is earlier. A clock that is set forward by mistake deletes nothing until both are there.
 */
export const timeOfBoth = (now: Date): RawBuilder<Date> =>
  sql<Date>`least(now(), ${now}::timestamptz)`;
