import { Counter, Gauge, type Registry } from "prom-client";
import type { Database } from "../../../projections/database.ts";
import {
  readSyncFigures,
  type SyncFigures,
} from "../../../projections/partner-sync/read-sync-figures.ts";

/** Figures of the jobs role, which answers nobody itself: read when they are asked for, left out while they cannot be. */
export function gaugePartners(registry: Registry, db: Database): void {
  let reading: Promise<SyncFigures | null> | null = null;
  const read = () => {
    reading ??= readSyncFigures(db)
      .catch(() => null)
      .finally(() => {
        reading = null;
      });
    return reading;
  };

  type Figure = (one: SyncFigures["collections"][number]) => number | null;
  function gauge(name: string, help: string, figure: Figure) {
    const registered = new Gauge({
      ...{ name, help, labelNames: ["marketplace"], registers: [registry] },
      async collect() {
        registered.reset();
        for (const one of (await read())?.collections ?? []) {
          const value = figure(one);
          if (value !== null) registered.set({ marketplace: one.marketplace }, value);
        }
      },
    });
  }

  gauge("partner_contracts", "Contracts asked for at the partner", ({ contracts }) => contracts);
  gauge("partner_contracts_unread", "Those never read to their end", ({ unread }) => unread);
  gauge(
    "partner_oldest_pass_seconds",
    "Since the end of the full pass that is longest ago",
    ({ oldestSeconds }) => oldestSeconds,
  );
  const skipped = new Counter({
    name: "partner_skipped_entries_total",
    help: "Entries of the partner's lists that were left out",
    labelNames: ["marketplace", "reason"],
    registers: [registry],
    async collect() {
      skipped.reset();
      for (const { entries, ...labels } of (await read())?.skipped ?? []) {
        skipped.inc(labels, Number(entries));
      }
    },
  });
}
