import type { Logger } from "pino";
import type { Database } from "#projections/log/database.ts";
import { isLockHeld } from "#projections/log/named-lock.ts";
import { copiedProjections } from "#projections/analytics/data-sets.ts";
import type { Job } from "../log-signal/job.ts";
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
};

/** Keeps the copy in ClickHouse up to date, where there is one. */
export function analyticsSync(options: JobOptions): Job[] {
  const { db, clickhouseUrl, url, readUrl, intervalSeconds, logger } = options;
  if (clickhouseUrl === null) return [];
  return [
    {
      name: "analytics copy",
      every: intervalSeconds * 1_000,
      reads: copiedProjections,
      async run(signal) {
        try {
          const done = await syncClickhouse({ clickhouseUrl, db, url, readUrl, signal });
          if (done.facts > 0n) logger.debug(done, "analytics copy synced");
        } catch (error) {
          if (!isLockHeld(error)) throw error;
          logger.debug("another process syncs the analytics copy");
        }
      },
    },
  ];
}
