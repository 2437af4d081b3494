import { sql } from "kysely";
import type { Job } from "#jobs/runner/job.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { deleteOldSamples, readSamples, storeSamples } from "#projections/log/operators.ts";
import type { InspectedConfig } from "../reports/inspected-config.ts";
import { type FetchChainHead, readServiceProgress } from "../reports/read-status.ts";

const everyMs = 60_000;
const keptMs = 31 * 86_400_000;

type SampleOptions = {
  db: Database;
  config: InspectedConfig;
  fetchHead: FetchChainHead;
  now: () => Date;
};

/** Takes samples every minute: the log's head and the chains' lag; the size of the database at full hours. */
export const sampling = (options: SampleOptions): Job => ({
  name: "samples",
  every: everyMs,
  async run() {
    await sample(options);
    return undefined;
  },
});

/** Takes one sample of every figure. */
export async function sample({ db, config, fetchHead, now }: SampleOptions): Promise<void> {
  const at = now();
  const { logHead, chains } = await readServiceProgress(db, config, fetchHead);
  const samples = new Map([["log_head", logHead]]);
  for (const { chainId, lagSeconds } of chains) {
    if (lagSeconds !== null) samples.set(`lag_seconds ${chainId}`, lagSeconds);
  }
  const isFirst = await hasNoSize(db, at);
  if (isFirst) samples.set("database_bytes", await readSize(db));
  await storeSamples(db, at, samples);
  if (isFirst) await deleteOldSamples(db, new Date(at.getTime() - keptMs));
}

/** Whether the size was not taken in this hour yet. */
async function hasNoSize(db: Database, at: Date): Promise<boolean> {
  const { rows } = await sql`
    select from ops.sample
    where series = 'database_bytes' and taken_at >= date_trunc('hour', ${at}::timestamptz) limit 1`.execute(
    db,
  );
  return rows.length === 0;
}

async function readSize(db: Database): Promise<number> {
  const { rows } = await sql<{ bytes: bigint }>`
    select pg_database_size(current_database()) as bytes`.execute(db);
  return Number(rows[0]?.bytes ?? 0n);
}

/** Minutes that a rate is the mean of. */
const minutes = 5;

type Rate = {
  /** Head of the log when the time began, and now. */
  after: bigint;
  upTo: bigint;
  seconds: number;
  perSecond: number;
};

/** How fast the log grows; null until there is an earlier sample of its head. */
export async function readRate(
  db: Database,
  now: Date,
  overMinutes = minutes,
): Promise<Rate | null> {
  const since = new Date(now.getTime() - overMinutes * 60_000);
  const [oldest] = await readSamples(db, "log_head", since);
  if (oldest === undefined) return null;
  const upTo = await readLogHead(db);
  const after = BigInt(oldest.value);
  const seconds = Math.max(1, (now.getTime() - oldest.takenAt.getTime()) / 1_000);
  return { after, upTo, seconds, perSecond: Number(upTo - after) / seconds };
}
