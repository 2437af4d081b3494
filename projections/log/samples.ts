import { sql } from "kysely";
import type { Database } from "../database.ts";

export type Sample = { takenAt: Date; value: number };

/** Stores figures as of a full minute, once for all processes that take them. */
export async function storeSamples(
  db: Database,
  at: Date,
  samples: ReadonlyMap<string, number>,
): Promise<void> {
  await sql`
    insert into ops.sample (series, taken_at, value)
    select series, date_trunc('minute', ${at}::timestamptz), value
    from unnest(${[...samples.keys()]}::text[], ${[...samples.values()]}::float8[]) as s (series, value)
    on conflict do nothing`.execute(db);
}

/** Deletes what no page shows any more. */
export async function deleteOldSamples(db: Database, before: Date): Promise<void> {
  await sql`delete from ops.sample where taken_at < ${before}`.execute(db);
}

/** The samples of a series since a time, oldest first. */
export async function readSamples(db: Database, series: string, since: Date): Promise<Sample[]> {
  const { rows } = await sql<Sample>`
    select taken_at as "takenAt", value from ops.sample
    where series = ${series} and taken_at >= ${since} order by taken_at`.execute(db);
  return rows;
}
