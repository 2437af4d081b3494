import { Gauge, type Registry } from "prom-client";
import type { Database } from "../../../projections/database.ts";
import { readEngineProgress } from "../../../projections/reads/analytics/capture/engine-progress.ts";

/** How far the copies in analytics engines are behind; read on each scrape, omitted on failure and where there are none. */
export function gaugeAnalytics(registry: Registry, db: Database): void {
  const age = new Gauge({
    name: "analytics_engine_age_seconds",
    help: "Seconds since the last sync of an analytics engine that succeeded: op analytics status",
    labelNames: ["engine"],
    registers: [registry],
    collect() {
      age.reset();
    },
  });
  const behind = new Gauge({
    name: "analytics_engine_behind_facts",
    help: "Facts of the log that an analytics engine does not hold yet",
    labelNames: ["engine"],
    registers: [registry],
    async collect() {
      const engines = await readEngineProgress(db).catch(() => []);
      behind.reset();
      for (const { engine, behind: facts, syncedAt } of engines) {
        behind.set({ engine }, Number(facts));
        if (syncedAt !== null) age.set({ engine }, (Date.now() - syncedAt.getTime()) / 1_000);
      }
    },
  });
}
