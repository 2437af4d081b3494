import { type Database, openDatabase } from "#projections/log/database.ts";
import { syncingAlone } from "#projections/analytics/copy-source.ts";
import { openClickhouseSink } from "./clickhouse-sink.ts";
import { type SyncOptions, type SyncResult, sync } from "./sync.ts";

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
