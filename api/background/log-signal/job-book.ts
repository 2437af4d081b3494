import type { JobFigures } from "#projections/log/operators.ts";
import { type Job, partOfJob } from "./job.ts";

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
