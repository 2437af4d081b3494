import { type RawBuilder, sql } from "kysely";

/** A time in place of the database's clock, which is the only one that all processes share; null: that one. */
export type Clock = () => Date | null;

export const timeOf = (clock: Clock): RawBuilder<Date> =>
  sql<Date>`coalesce(${clock()}::timestamptz, now())`;
