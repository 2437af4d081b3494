import { sql } from "kysely";
import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { sleep } from "./back-off.ts";

const intervalMs = 15_000;

type AnalyzeOptions = { db: Database; logger: Logger; signal: AbortSignal };

/** Keeps the statistics over all partitions of the log, which autovacuum does not gather. */
export async function keepLogAnalyzed({ db, logger, signal }: AnalyzeOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      await sql`select log.analyze_facts()`.execute(db);
    } catch (error) {
      logger.warn({ err: error }, "analyzing the log failed, retrying");
    }
    await sleep(intervalMs, signal);
  }
}
