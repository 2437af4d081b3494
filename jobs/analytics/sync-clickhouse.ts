import type { Logger } from "pino";
import { syncingAlone } from "#projections/analytics/copy-source.ts";
import { copiedProjections } from "#projections/analytics/data-sets.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { isLockHeld } from "#projections/log/named-lock.ts";
import type { Job } from "../runner/job.ts";
import { openClickhouseSink } from "./clickhouse-sink.ts";
import { type SyncOptions, type SyncResult, sync } from "./sync.ts";

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

type Syncing = SyncOptions & {
  clickhouseUrl: string;
  db: Database;
  /** The database, which has the lock, and where it is read. */
  url: string;
  readUrl: string | null;
};

/** Brings the copy in ClickHouse up to date. Fails with `isLockHeld` while another process does. */
export async function syncClickhouse({
  clickhouseUrl,
  db,
  url,
  readUrl,
  ...options
}: Syncing): Promise<SyncResult> {
  const lockDb = openDatabase({
    url,
    applicationName: "analytics sync lock",
    max: 1,
    onIdleError: () => {},
  });
  try {
    return await syncingAlone({ db, lockDb }, async () => {
      const sink = openClickhouseSink(clickhouseUrl, options.signal && { signal: options.signal });
      try {
        const result = await sync(readUrl ?? url, sink, options);
        await sink.compact();
        return result;
      } finally {
        await sink.close();
      }
    });
  } finally {
    await lockDb.destroy();
  }
}
