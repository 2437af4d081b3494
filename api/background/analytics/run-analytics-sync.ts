import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { isLockHeld } from "../../../projections/named-lock.ts";
import { sleep } from "../log-signal/back-off.ts";
import { type EngineName, type EnginePlaces, placeOf, syncEngine, usedEngines } from "./engines.ts";

/** Until the next try while another cell's copy is brought up to date. */
const heldMs = 1_000;

type JobOptions = EnginePlaces & {
  db: Database;
  /** What the copy is called in an engine. */
  cell: string;
  /** The main cell's database. */
  lockUrl: string;
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
    const outcome = await syncOnce(engine, options);
    const intervalMs = intervalSeconds * 1_000;
    await sleep(outcome === "held" ? Math.min(heldMs, intervalMs) : intervalMs, signal);
  }
}

/** `held`: another process or cell syncs the engine. */
async function syncOnce(engine: EngineName, options: JobOptions): Promise<"held" | "tried"> {
  const { db, cell, url, readUrl, lockUrl, logger, signal } = options;
  const place = placeOf(engine, options) ?? "";
  try {
    const done = await syncEngine({
      engine,
      place,
      cell,
      db,
      lockUrl,
      signal,
      readUrl: readUrl ?? url,
    });
    if (done.facts > 0n) logger.debug({ engine, ...done }, "analytics engine synced");
  } catch (error) {
    if (isLockHeld(error)) {
      logger.debug({ engine }, "another process syncs the analytics engine");
      return "held";
    }
    if (!signal.aborted) logger.error({ err: error, engine }, "analytics sync failed, retrying");
  }
  return "tried";
}
