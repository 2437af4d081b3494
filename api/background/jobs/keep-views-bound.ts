import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { bindViewsIfStale } from "../../../projections/reads/analytics/bind-views.ts";
import { sleep } from "../log-signal/back-off.ts";

const intervalMs = 10_000;

type ViewOptions = { db: Database; logger: Logger; signal: AbortSignal };

/**
 * Keeps analysts' views on the tables of this release, for the process that records: the projector of another release, which
 * derived its tables or was started later, may have bound them to its own, and these stand still when it has ended.
 */
export async function keepViewsBound({ db, logger, signal }: ViewOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      await db.transaction().execute(bindViewsIfStale);
    } catch (error) {
      logger.warn({ err: error }, "binding the views for analysts failed, retrying");
    }
    await sleep(intervalMs, signal);
  }
}
