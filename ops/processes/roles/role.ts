import type { Logger } from "pino";
import type { Address } from "viem";
import { areDerived } from "#jobs/recording/project.ts";
import type { Job } from "#jobs/runner/job.ts";
import { type JobBook, openJobBook, runJobs } from "#jobs/runner/run-jobs.ts";
import type { Config } from "#ops/config/config.ts";
import { allProjections } from "#projections/all.ts";
import type { Database, DatabaseAddress } from "#projections/log/database.ts";
import { storeJobFigures } from "#projections/log/operators.ts";

type DatabaseSettings = Pick<Config["database"], "replicas" | "maxReplicaLagSeconds" | "poolerUrl">;

type RoleDatabase = DatabaseSettings & {
  /** For what needs sessions of its own. */
  readonly url: string;
  /** For what requests read and write: the same, or a pooler in front of it. */
  readonly requests: DatabaseAddress;
};

export function roleDatabase(
  { replicas, maxReplicaLagSeconds, poolerUrl }: DatabaseSettings,
  url: string,
): RoleDatabase {
  const requests = poolerUrl === null ? { url } : { url: poolerUrl, isPooled: true };
  return { url, requests, poolerUrl, replicas, maxReplicaLagSeconds };
}

/** The configuration of a role: database and fee recipient are known, set by the operator or by the supervisor. */
export type RoleConfig = Omit<Config, "database" | "fees"> & {
  database: RoleDatabase;
  fees: { bps: number; recipient: Address };
};

/** Passed to a role. Every role runs in its own process. */
export type RoleContext = {
  config: RoleConfig;
  logger: Logger;
  /** Aborted when the process is to stop. */
  signal: AbortSignal;
};

export type RunningRole = {
  /** Resolves when the role does its work. */
  ready: Promise<void>;
  /** Stops the work in order and closes everything. */
  stop(): Promise<void>;
  /** Rejects when the role cannot continue; the process then exits and is restarted. */
  failed: Promise<never>;
};

const storeMs = 5_000;

type RoleJobs = {
  readonly config: Pick<RoleConfig, "fees">;
  readonly db: Database;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** In which jobs that run beside them are noted too. */
  readonly book?: JobBook;
};

/** Runs jobs of a role until the signal, and stores what they did, for the console and the metrics. */
export async function runRoleJobs(
  jobs: Job | readonly Job[],
  { config, db, logger, signal, book = openJobBook() }: RoleJobs,
): Promise<void> {
  const projections = allProjections({ feeRecipient: config.fees.recipient });
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
