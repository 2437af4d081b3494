import { sql } from "kysely";
import type { Database } from "../database.ts";

/** A job's last run, with how many there were. */
export type JobFigures = {
  readonly name: string;
  /** Which of several of the name, such as a chain or a partner; empty: there is one. */
  readonly part: string;
  readonly runs: number;
  readonly failures: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Why the last run failed; null: it did not. */
  readonly failure: string | null;
  /** Null: the next run waits for something to happen. */
  readonly nextAt: Date | null;
};

/** What did not run for so long is no job of this release. */
const keptDays = 7;

/** Adds runs to those that are stored. */
export async function storeJobFigures(db: Database, figures: readonly JobFigures[]): Promise<void> {
  if (figures.length === 0) return;
  await sql`
    insert into ops.job as known
      (name, part, runs, failures, started_at, duration_ms, failure, next_at)
    select name, part, runs, failures, "startedAt", "durationMs", failure, "nextAt"
    from jsonb_to_recordset(${JSON.stringify(figures)}::jsonb) as ran (
      name text, part text, runs int8, failures int8, "startedAt" timestamptz, "durationMs" float8,
      failure text, "nextAt" timestamptz
    )
    order by name, part
    on conflict (name, part) do update
      set runs = known.runs + excluded.runs, failures = known.failures + excluded.failures,
          started_at = excluded.started_at, duration_ms = excluded.duration_ms,
          failure = excluded.failure, next_at = excluded.next_at`.execute(db);
}

/** Of all jobs that ran in the last days, by name and part. */
export async function readJobFigures(db: Database): Promise<JobFigures[]> {
  const { rows } = await sql<JobFigures>`
    select name, part, runs::float8 as runs, failures::float8 as failures, started_at as "startedAt",
           duration_ms as "durationMs", failure, next_at as "nextAt"
    from ops.job
    where started_at > clock_timestamp() - make_interval(days => ${keptDays})
    order by name, part`.execute(db);
  return rows;
}
