import { Counter, Gauge, type Registry } from "prom-client";
import type { Database } from "#projections/log/database.ts";
import { type JobFigures, readJobFigures } from "#projections/log/operators.ts";

type Figure = (job: JobFigures) => number | null;

/** Not `job`: Prometheus keeps this for what it scrapes. */
const labelNames = ["name", "part"] as const;

/** What goes on without a request, of all processes; read on each scrape, omitted on failure. */
export function gaugeJobs(registry: Registry, db: Database): void {
  const readOnce = openJobReader(db);
  const count = (name: string, help: string, figure: Figure) =>
    new Counter({
      ...{ name, help, labelNames, registers: [registry] },
      async collect() {
        const jobs = await readOnce();
        this.reset();
        for (const one of jobs) this.inc({ name: one.name, part: one.part }, figure(one) ?? 0);
      },
    });
  const gauge = (name: string, help: string, figure: Figure) =>
    new Gauge({
      ...{ name, help, labelNames, registers: [registry] },
      async collect() {
        const jobs = await readOnce();
        this.reset();
        for (const one of jobs) {
          const value = figure(one);
          if (value !== null) this.set({ name: one.name, part: one.part }, value);
        }
      },
    });
  count("job_runs_total", "Runs of a job", ({ runs }) => runs);
  count("job_failures_total", "Runs of a job that failed", ({ failures }) => failures);
  gauge(
    "job_duration_seconds",
    "How long the last run of a job took",
    ({ durationMs }) => durationMs / 1_000,
  );
  gauge(
    "job_started_timestamp_seconds",
    "When the last run of a job began",
    ({ startedAt }) => startedAt.getTime() / 1_000,
  );
  gauge(
    "job_next_timestamp_seconds",
    "When the next run of a job is due at the latest; absent: it waits for something to happen",
    ({ nextAt }) => nextAt && nextAt.getTime() / 1_000,
  );
}

/** One statement for all metrics of a scrape. */
function openJobReader(db: Database): () => Promise<JobFigures[]> {
  let reading: Promise<JobFigures[]> | undefined;
  return () => {
    reading ??= readJobFigures(db)
      .catch(() => [])
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
}
