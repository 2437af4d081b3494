import type { Logger } from "pino";
import { allProjections } from "#projections/all.ts";
import type { Database } from "#projections/log/database.ts";
import { storeJobFigures } from "#projections/log/operators.ts";
import { areDerived } from "#jobs/recording/project.ts";
import type { Job } from "#jobs/runner/job.ts";
import { openJobBook, runJobs } from "#jobs/runner/run-jobs.ts";
import type { RoleConfig } from "./role.ts";

const storeMs = 5_000;

type RoleJobs = {
  readonly config: Pick<RoleConfig, "fees">;
  readonly db: Database;
  readonly logger: Logger;
  readonly signal: AbortSignal;
};

/** Runs a role's jobs until the signal, and stores what they did, for the console and the metrics. */
export async function runRoleJobs(
  jobs: readonly Job[],
  { config, db, logger, signal }: RoleJobs,
): Promise<void> {
  const projections = allProjections({ feeRecipient: config.fees.recipient });
  const book = openJobBook();
  const storing: Job = {
    name: "job figures",
    every: storeMs,
    async run() {
      await storeJobFigures(db, book.takeFigures());
      return undefined;
    },
  };
  await Promise.all([
    runJobs(jobs, {
      logger,
      signal,
      book,
      areDerived: (names) =>
        areDerived(
          db,
          projections.filter(({ name }) => names.includes(name)),
        ),
    }),
    runJobs(storing, { logger, signal }),
  ]);
}
