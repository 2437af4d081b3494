import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { endOverdueTransactions } from "../../../projections/reads/analytics/end-overdue.ts";
import { runEvery } from "../log-signal/run-every.ts";

const intervalMs = 5_000;

type LimitOptions = { db: Database; logger: Logger; signal: AbortSignal };

/** Ends transactions of analysts that last too long: a role can change its own timeouts. */
export async function runAnalystLimits({ db, logger, signal }: LimitOptions): Promise<void> {
  const limit = async () => {
    for (const ended of await endOverdueTransactions(db)) {
      logger.warn(ended, "analyst's transaction ended");
    }
  };
  const onError = (error: unknown) =>
    logger.error({ err: error }, "limiting analysts failed, retrying");
  await runEvery(intervalMs, limit, { signal, onError });
}
