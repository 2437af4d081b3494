import type { Database } from "../../../projections/database.ts";
import { readEngineProgress } from "../../../projections/reads/analytics/capture/engine-progress.ts";
import { usedEngines } from "../../background/analytics/engines.ts";
import type { AnalyticsConfig } from "../config/analytics-settings.ts";
import type { Finding } from "./find-server-problems.ts";

/** Intervals after which a sync is late. */
const lateIntervals = 10;

/** Analytics engines whose syncs fail, or do not happen. */
export async function checkAnalyticsEngines(
  db: Database,
  analytics: AnalyticsConfig,
): Promise<Finding[]> {
  const used = usedEngines(analytics);
  const lateMs = lateIntervals * analytics.intervalSeconds * 1_000;
  const found = await readEngineProgress(db);
  return found
    .filter(({ engine }) => used.some((one) => one === engine))
    .flatMap(({ engine, error, syncedAt, behind }): Finding[] => {
      const about = `analytics engine ${engine}`;
      if (error !== null) {
        const advice = `op analytics sync --to ${engine} tries again and says more`;
        return [{ about, isFault: true, finding: `its last sync failed: ${error}`, advice }];
      }
      if (behind === 0n || (syncedAt !== null && Date.now() - syncedAt.getTime() < lateMs))
        return [];
      const finding = `is ${behind} facts behind, last synced ${syncedAt?.toISOString() ?? "never"}`;
      return [
        { about, isFault: false, finding, advice: "the jobs process syncs it: is it running?" },
      ];
    });
}
