import { sql } from "kysely";
import type { Logger } from "pino";
import { bindViewsIfStale } from "../projections/analytics/bind-views.ts";
import { endOverdueTransactions } from "../projections/analytics/roles.ts";
import type { Database } from "../projections/log/database.ts";
import type { Job } from "./runner/job.ts";

const viewsMs = 10_000;
const statisticsMs = 15_000;

/** What the process that records does for the database. */
export function upkeep(db: Database): Job[] {
  return [viewsBinding(db), logStatistics(db)];
}

/**
 * Keeps analysts' views on the tables of this release: the projector of another release, which derived its tables or was
 * started later, may have bound them to its own, and these stand still when it has ended.
 */
export function viewsBinding(db: Database): Job {
  return {
    name: "views for analysts",
    every: viewsMs,
    async run() {
      await db.transaction().execute(bindViewsIfStale);
    },
  };
}

/** Keeps the statistics over all partitions of the log, which autovacuum does not gather. */
function logStatistics(db: Database): Job {
  return {
    name: "log statistics",
    every: statisticsMs,
    async run() {
      await sql`select log.analyze_facts()`.execute(db);
    },
  };
}

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
