import { type RawBuilder, sql } from "kysely";

/** The current time for tests; null: the database's clock, which all processes share. */
export type Clock = () => Date | null;

export const currentTime = (clock: Clock): RawBuilder<Date> =>
  sql<Date>`coalesce(${clock()}::timestamptz, now())`;
