import type { Logger } from "pino";
import type { Database } from "#projections/log/database.ts";
import { endOverdueTransactions } from "#projections/analytics/roles.ts";
import type { Job } from "../log-signal/job.ts";

const intervalMs = 5_000;

/** Ends transactions of analysts that last too long: a role can change its own timeouts. */
export function analystLimits({ db, logger }: { db: Database; logger: Logger }): Job {
  return {
    name: "analyst limits",
    every: intervalMs,
    retry: { firstMs: intervalMs, mostMs: intervalMs },
    async run() {
      for (const ended of await endOverdueTransactions(db)) {
        logger.warn(ended, "analyst's transaction ended");
      }
    },
  };
}
