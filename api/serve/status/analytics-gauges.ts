import { Gauge, type Registry } from "prom-client";
import type { Database } from "#projections/log/database.ts";
import { readCopyProgress } from "#projections/analytics/copy-source.ts";

/** How far the copy in ClickHouse is behind; read on each scrape, omitted on failure and where there is none. */
export function gaugeAnalytics(registry: Registry, db: Database): void {
  const age = new Gauge({
    name: "analytics_engine_age_seconds",
    help: "Seconds since the last sync of the copy in ClickHouse that succeeded: op analytics status",
    registers: [registry],
    collect() {
      age.reset();
    },
  });
  const behind = new Gauge({
    name: "analytics_engine_behind_facts",
    help: "Facts of the log that the copy in ClickHouse does not hold yet",
    registers: [registry],
    async collect() {
      const copy = await readCopyProgress(db).catch(() => null);
      behind.reset();
      if (copy === null) return;
      behind.set(Number(copy.behind));
      if (copy.syncedAt !== null) age.set((Date.now() - copy.syncedAt.getTime()) / 1_000);
    },
  });
}
