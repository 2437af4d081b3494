import type { Database } from "#projections/log/database.ts";
import { readCopyProgress } from "#projections/analytics/copy-source.ts";
import type { AnalyticsConfig } from "#ops/config/database-settings.ts";
import type { Finding } from "./find-server-problems.ts";

/** Intervals after which a sync is late. */
const lateIntervals = 10;

/** A copy in ClickHouse whose syncs fail, or do not happen. */
export async function checkAnalyticsCopy(
  db: Database,
  { clickhouseUrl, intervalSeconds }: AnalyticsConfig,
): Promise<Finding[]> {
  const copy = clickhouseUrl === null ? null : await readCopyProgress(db);
  if (copy === null) return [];
  const { error, syncedAt, behind } = copy;
  const about = "copy in ClickHouse";
  if (error !== null) {
    const advice = "op analytics sync tries again and says more";
    return [{ about, isFault: true, finding: `its last sync failed: ${error}`, advice }];
  }
  const lateMs = lateIntervals * intervalSeconds * 1_000;
  if (behind === 0n || (syncedAt !== null && Date.now() - syncedAt.getTime() < lateMs)) return [];
  const finding = `is ${behind} facts behind, last synced ${syncedAt?.toISOString() ?? "never"}`;
  return [{ about, isFault: false, finding, advice: "the jobs process syncs it: is it running?" }];
}
