import type { Logger } from "pino";
import type { JobFigures } from "#projections/log/operators.ts";
import { backOffMs, sleep } from "./back-off.ts";
import { type Job, type JobOutcome, OutsideFailure, partOfJob } from "./job.ts";

/** What all jobs of a process share. */
type JobRunner = {
  readonly logger: Logger;
  /** Ends all jobs. */
  readonly signal: AbortSignal;
  /** Where runs are noted; absent: nowhere. */
  readonly book?: JobBook;
  /** Whether projections have been derived by this release; absent: they are. */
  areDerived?(projections: readonly string[]): Promise<boolean>;
};

/** Until projections are looked at again that a job waits for. */
const derivingMs = 2_000;

/**
 * Runs jobs until the signal: each on its own, at its interval, earlier when it is woken, and at once while there is more.
 * A job that fails ends no other and is run again, after ever longer pauses; each cause is logged once until it works.
 */
export async function runJobs(jobs: Job | readonly Job[], runner: JobRunner): Promise<void> {
  await Promise.all([jobs].flat().map((job) => runJob(job, runner)));
}

async function runJob(job: Job, runner: JobRunner): Promise<void> {
  const { reads } = job;
  const { areDerived, book: _, ...unnoted } = runner;
  if (reads !== undefined && areDerived !== undefined) {
    const isReady = async () => ((await areDerived(reads)) ? "ended" : derivingMs);
    await repeat({ ...job, run: isReady }, unnoted);
  }
  await repeat(job, runner);
}

type JobState = { failures: number; cause: string };

async function repeat(job: Job, runner: JobRunner): Promise<void> {
  const { signal, book } = runner;
  const state: JobState = { failures: 0, cause: "" };
  while (!signal.aborted) {
    const startedAt = new Date();
    const begun = performance.now();
    const end = await attempt(job, signal);
    if (end === null) return;
    const durationMs = performance.now() - begun;
    const pause = pauseAfter(job, end, noteEnd(job, runner, state, end));
    const failure = end.failed ? textOf(end.error) : null;
    book?.note(job, { startedAt, durationMs, failure, nextAt: timeIn(pause.ms) });
    if (end.outcome === "ended") return;
    await rest(job, pause, signal);
  }
}

const timeIn = (ms: number): Date | null =>
  Number.isFinite(ms) ? new Date(Date.now() + ms) : null;

type End = { failed: boolean; error?: unknown; outcome?: JobOutcome | undefined };

/** Null: the signal came meanwhile, and what it interrupted has not failed. */
async function attempt(job: Job, signal: AbortSignal): Promise<End | null> {
  try {
    return { failed: false, outcome: await job.run(signal) };
  } catch (error) {
    return signal.aborted ? null : { failed: true, error };
  }
}

/** Logs what changed. Returns the number of failures in a row. */
function noteEnd(job: Job, { logger }: JobRunner, state: JobState, end: End): number {
  const about = { job: job.name, ...job.about };
  if (!end.failed) {
    if (state.failures > 0) logger.info({ ...about, failures: state.failures }, "job works again");
    state.failures = 0;
    state.cause = "";
    return 0;
  }
  state.failures += 1;
  const cause = textOf(end.error);
  if (cause !== state.cause) logFailure(logger, about, end.error);
  state.cause = cause;
  return state.failures;
}

/** A failure outside by its reason, others as errors. */
function logFailure(logger: Logger, about: Record<string, unknown>, error: unknown): void {
  const message = "job failed, retrying";
  if (error instanceof OutsideFailure) logger.warn({ ...about, reason: error.message }, message);
  else logger.error({ ...about, err: error }, message);
}

type Pause = { ms: number; isWoken: boolean };

function pauseAfter({ every, retry }: Job, end: End, failures: number): Pause {
  if (failures > 0) return { ms: backOffMs(failures, retry), isWoken: retry?.isWoken === true };
  if (end.outcome === "more") return { ms: 0, isWoken: false };
  const ms = typeof end.outcome === "number" ? end.outcome : (every ?? Number.POSITIVE_INFINITY);
  return { ms, isWoken: true };
}

async function rest({ wakesOn }: Job, { ms, isWoken }: Pause, signal: AbortSignal): Promise<void> {
  if (signal.aborted || (ms <= 0 && !isWoken)) return;
  if (isWoken && wakesOn !== undefined) await wakesOn.wait(ms, signal);
  else await sleep(ms, signal);
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : `${error}`);

/** One run, after it has ended. */
type JobRun = Pick<JobFigures, "startedAt" | "durationMs" | "failure" | "nextAt">;

/** What the jobs of a process did. */
export type JobBook = {
  note(job: Job, run: JobRun): void;
  /** Of the jobs that ran since the last call; counts are those since then. */
  takeFigures(): JobFigures[];
};

export function openJobBook(): JobBook {
  let figures = new Map<string, JobFigures>();
  return {
    note(job, run) {
      const part = partOfJob(job);
      const key = `${job.name}\n${part}`;
      const before = figures.get(key);
      const runs = (before?.runs ?? 0) + 1;
      const failures = (before?.failures ?? 0) + (run.failure === null ? 0 : 1);
      figures.set(key, { ...run, name: job.name, part, runs, failures });
    },
    takeFigures() {
      const taken = [...figures.values()];
      figures = new Map();
      return taken;
    },
  };
}

type RunEachOptions = Pick<Job, "name" | "about"> & {
  /** What is to run now. */
  readNames: () => Promise<readonly string[]>;
  /** Runs one until the signal is aborted. */
  run: (name: string, signal: AbortSignal) => Promise<void>;
  /** Runs the job of this name, which looks for names again and again. */
  runJob: (job: Job, signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
};

const pollMs = 2_000;

/** Runs something for each of some names that may change, until the signal. Rejects when one of the runs does. */
export async function runEach(options: RunEachOptions): Promise<void> {
  const { readNames, run, runJob, signal: until, ...named } = options;
  const ending = new AbortController();
  const signal = AbortSignal.any([until, ending.signal]);
  const running = new Map<string, { ending: AbortController; finished: Promise<void> }>();
  let onFailure = (_: unknown) => {};
  const failure = new Promise<never>((_, reject) => {
    onFailure = reject;
  });
  failure.catch(() => {});
  const start = (name: string) => {
    const ending = new AbortController();
    const finished = run(name, AbortSignal.any([signal, ending.signal]));
    finished.catch(onFailure);
    running.set(name, { ending, finished });
  };
  const update = async () => {
    const names = await readNames();
    const gone = [...running].filter(([name]) => !names.includes(name));
    for (const [name, { ending, finished }] of gone) {
      ending.abort();
      await finished;
      running.delete(name);
    }
    for (const name of names) if (!running.has(name) && !signal.aborted) start(name);
    return undefined;
  };
  const retry = { firstMs: pollMs, mostMs: pollMs };
  const updating = runJob({ ...named, every: pollMs, retry, run: update }, signal);
  try {
    await Promise.race([updating, failure]);
  } finally {
    ending.abort();
    await Promise.allSettled([updating, ...[...running.values()].map(({ finished }) => finished)]);
  }
}

/**
 * Runs parts of one work. When a part fails, the others end too; the first failure is thrown once all have ended,
 * so that what they share may be closed then.
 */
export async function runTogether(
  signal: AbortSignal,
  start: (signal: AbortSignal) => readonly Promise<unknown>[],
): Promise<void> {
  const ending = new AbortController();
  const failures: unknown[] = [];
  const parts = start(AbortSignal.any([signal, ending.signal]));
  const end = (failure: unknown) => {
    failures.push(failure);
    ending.abort();
  };
  await Promise.all(parts.map((part) => part.catch(end)));
  if (failures.length > 0) throw failures[0];
}
