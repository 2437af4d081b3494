import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { isLockHeld } from "../../../projections/named-lock.ts";
import { sleep } from "../log-signal/back-off.ts";
import { type EngineName, type EnginePlaces, placeOf, syncEngine, usedEngines } from "./engines.ts";

type JobOptions = EnginePlaces & {
  db: Database;
  /** The database, and a replica of it to read from. */
  url: string;
  readUrl: string | null;
  intervalSeconds: number;
  logger: Logger;
  signal: AbortSignal;
};

/** Keeps analytics engines up to date, each by itself. Ends at once where none is used. */
export async function runAnalyticsSync(options: JobOptions): Promise<void> {
  await Promise.all(usedEngines(options).map((engine) => keepSyncing(engine, options)));
}

async function keepSyncing(engine: EngineName, options: JobOptions): Promise<void> {
  const { intervalSeconds, signal } = options;
  while (!signal.aborted) {
    await syncOnce(engine, options);
    await sleep(intervalSeconds * 1_000, signal);
  }
}

async function syncOnce(engine: EngineName, options: JobOptions): Promise<void> {
  const { db, url, readUrl, logger, signal } = options;
  const place = placeOf(engine, options) ?? "";
  try {
    const done = await syncEngine({ engine, place, db, readUrl: readUrl ?? url, signal });
    if (done.facts > 0n) logger.debug({ engine, ...done }, "analytics engine synced");
  } catch (error) {
    if (isLockHeld(error)) logger.info({ engine }, "another process syncs the analytics engine");
    else if (!signal.aborted)
      logger.error({ err: error, engine }, "analytics sync failed, retrying");
  }
}
