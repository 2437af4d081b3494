import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { isLockHeld } from "../../../projections/named-lock.ts";
import { sleep } from "../log-signal/back-off.ts";
import { syncClickhouse } from "./sync-clickhouse.ts";

type JobOptions = {
  db: Database;
  /** Of the copy; null: there is none. */
  clickhouseUrl: string | null;
  /** The database, and a replica of it to read from. */
  url: string;
  readUrl: string | null;
  intervalSeconds: number;
  logger: Logger;
  signal: AbortSignal;
};

/** Keeps the copy in ClickHouse up to date. Ends at once where there is none. */
export async function runAnalyticsSync(options: JobOptions): Promise<void> {
  const { clickhouseUrl, intervalSeconds, signal } = options;
  if (clickhouseUrl === null) return;
  while (!signal.aborted) {
    await syncOnce({ ...options, clickhouseUrl });
    await sleep(intervalSeconds * 1_000, signal);
  }
}

async function syncOnce(options: JobOptions & { clickhouseUrl: string }): Promise<void> {
  const { db, clickhouseUrl, url, readUrl, logger, signal } = options;
  try {
    const done = await syncClickhouse({ clickhouseUrl, db, url, readUrl, signal });
    if (done.facts > 0n) logger.debug(done, "analytics copy synced");
  } catch (error) {
    if (isLockHeld(error)) logger.debug("another process syncs the analytics copy");
    else if (!signal.aborted) logger.error({ err: error }, "analytics sync failed, retrying");
  }
}
