import { sql } from "kysely";
import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { bindViewsIfStale } from "../../../projections/reads/analytics/bind-views.ts";
import { runEvery } from "../log-signal/run-every.ts";

const viewsMs = 10_000;
const statisticsMs = 15_000;

/** What the process that records does for the database, until `signal` is aborted. */
type Upkeep = { db: Database; logger: Logger; signal: AbortSignal };

/**
 * Keeps analysts' views on the tables of this release: the projector of another release, which derived its tables or was
 * started later, may have bound them to its own, and these stand still when it has ended.
 */
export async function keepViewsBound({ db, logger, signal }: Upkeep): Promise<void> {
  await runEvery(viewsMs, () => db.transaction().execute(bindViewsIfStale), {
    signal,
    onError: (error) =>
      logger.warn({ err: error }, "binding the views for analysts failed, retrying"),
  });
}

/** Keeps the statistics over all partitions of the log, which autovacuum does not gather. */
export async function keepLogAnalyzed({ db, logger, signal }: Upkeep): Promise<void> {
  await runEvery(statisticsMs, () => sql`select log.analyze_facts()`.execute(db), {
    signal,
    onError: (error) => logger.warn({ err: error }, "ANALYZE of log.fact failed, retrying"),
  });
}
