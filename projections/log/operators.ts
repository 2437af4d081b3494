import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { keccak256, stringToHex } from "viem";
import { appendObservations, type Observation } from "./append.ts";
import type { Database } from "./database.ts";
import { kindList, kindLiteral } from "./fact-kinds.ts";

/**
 * Work that an operator may stop for a while: from Ponder's tables to the log, from the log to projections, and what
 * the service does for callers: taking listings and offers in, giving out what buying them needs, and keys.
 */
export const switchNames = [
  "recording",
  "projecting",
  "listings",
  "offers",
  "buying",
  "instant-keys",
] as const;
export type SwitchName = (typeof switchNames)[number];

/** Milliseconds that what was read is believed: a pause is heeded within a second. */
const BELIEVED_MS = 400;
/** Who asks waits no longer for a database that is busy: what was known last holds until it answers. */
const WAITED_MS = 250;

/**
 * Tells whether work is paused, asking the database now and then. Until an operator pauses or resumes it, it is as it
 * starts.
 */
export function openSwitch(
  db: Database,
  name: SwitchName,
  startsPaused = false,
): () => Promise<boolean> {
  let isPaused = startsPaused;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<boolean> | undefined;
  const read = async () => {
    const { rows } = await sql<{ is_paused: boolean }>`
      select is_paused from ops.switch where name = ${name}`.execute(db);
    isPaused = rows[0]?.is_paused ?? startsPaused;
    readAt = performance.now();
    return isPaused;
  };
  return async () => {
    if (performance.now() - readAt < BELIEVED_MS) return isPaused;
    // Concurrent callers share the result.
    reading ??= read().finally(() => {
      reading = undefined;
    });
    const answered = new AbortController();
    const late = setTimeout(WAITED_MS, undefined, { signal: answered.signal });
    try {
      await Promise.race([reading, late]);
      return isPaused;
    } finally {
      answered.abort();
    }
  };
}

export async function readPaused(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from ops.switch where is_paused order by name`.execute(db);
  return rows.map(({ name }) => name);
}

/** Returns whether that changed anything. */
export async function setPaused(
  db: Database,
  name: SwitchName,
  isPaused: boolean,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into ops.switch as s (name, is_paused, changed_at) values (${name}, ${isPaused}, now())
    on conflict (name) do update set is_paused = excluded.is_paused, changed_at = now()
      where s.is_paused <> excluded.is_paused`.execute(db);
  return numAffectedRows === 1n;
}

/** Who started what at the operator's console, and why. */
type OperatorAction = {
  action: string;
  /** What of it was chosen, as the console's forms name it; empty: all. Actions of earlier releases have none. */
  target?: string;
  arguments: readonly string[];
  by: string;
  /** Network address that it came from. */
  address: string;
  reason: string;
};

export type RecordedAction = OperatorAction & {
  id: string;
  startedAt: Date;
  position: bigint;
  /** Null while it runs, or where the process that ran it was killed. */
  ended: { at: Date; isDone: boolean; output: string } | null;
};

/** Appends that an operator started something. Returns the action's id. */
export async function appendActionStarted(db: Database, action: OperatorAction): Promise<string> {
  const id = randomUUID();
  await appendObservations(db, [observationOf("operator_action_started", id, { id, ...action })]);
  return id;
}

export async function appendActionEnded(
  db: Database,
  id: string,
  outcome: { isDone: boolean; output: string },
): Promise<void> {
  await appendObservations(db, [observationOf("operator_action_ended", id, { id, ...outcome })]);
}

function observationOf(
  kind: "operator_action_started" | "operator_action_ended",
  id: string,
  payload: object,
): Observation {
  const identity = keccak256(stringToHex(`${kind}/${id}`));
  return { kind, chainId: 0, identity, recordedAt: new Date(), payload };
}

/** The newest actions first. */
export async function readOperatorActions(db: Database, most: number): Promise<RecordedAction[]> {
  const { rows } = await sql<{
    position: bigint;
    startedAt: Date;
    started: OperatorAction & { id: string };
    endedAt: Date | null;
    outcome: { isDone: boolean; output: string } | null;
  }>`
    with action as (
      select position, kind, recorded_at, payload from log.fact
      where kind in ${kindList("operator_action_started", "operator_action_ended")}
      order by position desc limit ${2 * most}
    )
    select s.position, s.recorded_at as "startedAt", s.payload as started, e.recorded_at as "endedAt",
           e.payload as outcome
    from action s
    left join action e on e.kind = ${kindLiteral("operator_action_ended")} and e.payload ->> 'id' = s.payload ->> 'id'
    where s.kind = ${kindLiteral("operator_action_started")}
    order by s.position desc limit ${most}`.execute(db);
  return rows.map(({ position, startedAt, started, endedAt, outcome }) => ({
    ...started,
    position,
    startedAt,
    ended: endedAt === null || outcome === null ? null : { at: endedAt, ...outcome },
  }));
}

export type FigureSample = { takenAt: Date; value: number };

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
export async function readSamples(
  db: Database,
  series: string,
  since: Date,
): Promise<FigureSample[]> {
  const { rows } = await sql<FigureSample>`
    select taken_at as "takenAt", value from ops.sample
    where series = ${series} and taken_at >= ${since} order by taken_at`.execute(db);
  return rows;
}

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
