import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { endOverdueTransactions } from "../../../projections/reads/analytics/end-overdue.ts";
import { sleep } from "../log-signal/back-off.ts";

const intervalMs = 5_000;

type LimitOptions = { db: Database; logger: Logger; signal: AbortSignal };

/** Ends transactions of analysts that last too long: a role can change its own timeouts. */
export async function runAnalystLimits({ db, logger, signal }: LimitOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      for (const ended of await endOverdueTransactions(db)) {
        logger.warn(ended, "analyst's transaction ended");
      }
    } catch (error) {
      logger.error({ err: error }, "limiting analysts failed, retrying");
    }
    await sleep(intervalMs, signal);
  }
}
