import type { Logger } from "pino";
import { sleep } from "./back-off.ts";
import type { Job, JobOutcome, JobRetry } from "./job.ts";
import type { JobBook } from "./job-book.ts";
import { logFailure } from "./log-failure.ts";

/** What all jobs of a process share. */
export type JobRunner = {
  readonly logger: Logger;
  /** Ends all jobs. */
  readonly signal: AbortSignal;
  /** Where runs are noted; absent: nowhere. */
  readonly book?: JobBook;
  /** Whether projections have been derived by this release; absent: they are. */
  areDerived?(projections: readonly string[]): Promise<boolean>;
};

const usualRetry: JobRetry = { firstMs: 1_000, mostMs: 60_000 };
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
  if (cause !== state.cause) logFailure(logger, about, end.error, "job failed, retrying");
  state.cause = cause;
  return state.failures;
}

type Pause = { ms: number; isWoken: boolean };

function pauseAfter({ every, retry = usualRetry }: Job, end: End, failures: number): Pause {
  if (failures > 0) {
    const ms = Math.min(retry.firstMs * 2 ** (failures - 1), retry.mostMs);
    return { ms, isWoken: retry.isWoken === true };
  }
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
