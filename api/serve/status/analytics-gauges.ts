import { Gauge, type Registry } from "prom-client";
import type { Database } from "../../../projections/database.ts";
import { readEngineProgress } from "../../../projections/reads/analytics/capture/engine-progress.ts";

/**
 * How far the copies in analytics engines are behind, of several databases the one that is furthest; read on each scrape,
 * omitted on failure and where there are none.
 */
export function gaugeAnalytics(registry: Registry, databases: () => readonly Database[]): void {
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
      const read = databases().map((db) => readEngineProgress(db).catch(() => []));
      const engines = (await Promise.all(read)).flat();
      behind.reset();
      for (const engine of new Set(engines.map((one) => one.engine))) {
        const copies = engines.filter((one) => one.engine === engine);
        behind.set({ engine }, Math.max(...copies.map((one) => Number(one.behind))));
        const synced = copies.flatMap(({ syncedAt }) => syncedAt?.getTime() ?? []);
        if (synced.length > 0) age.set({ engine }, (Date.now() - Math.min(...synced)) / 1_000);
      }
    },
  });
}
