import { Counter, Gauge, type Registry } from "prom-client";
import type { Database } from "#projections/log/database.ts";
import { readSyncMetrics, type SyncMetrics } from "#projections/partners/read-synced-collections.ts";

/** Metrics of the jobs role, which has no HTTP server: read from the database on each scrape, omitted on failure. */
export function gaugePartners(registry: Registry, db: Database): void {
  let reading: Promise<SyncMetrics | null> | null = null;
  const read = () => {
    reading ??= readSyncMetrics(db)
      .catch(() => null)
      .finally(() => {
        reading = null;
      });
    return reading;
  };

  type Figure = (one: SyncMetrics["collections"][number]) => number | null;
  function gauge(name: string, help: string, figure: Figure) {
    const registered = new Gauge({
      name,
      help,
      labelNames: ["marketplace"],
      registers: [registry],
      async collect() {
        registered.reset();
        for (const one of (await read())?.collections ?? []) {
          const value = figure(one);
          if (value !== null) registered.set({ marketplace: one.marketplace }, value);
        }
      },
    });
  }

  gauge(
    "partner_contracts",
    "Contracts whose listings are synchronised from the partner",
    ({ contracts }) => contracts,
  );
  gauge(
    "partner_contracts_unread",
    "Contracts without a completed full pass",
    ({ unread }) => unread,
  );
  gauge(
    "partner_oldest_pass_seconds",
    "Seconds since the oldest of the contracts' last full passes ended",
    ({ oldestSeconds }) => oldestSeconds,
  );
  gauge(
    "partner_creator_fees_held",
    "Contracts whose creator fees according to the partner wait for an operator: op royalties list",
    ({ held }) => held,
  );
  const skipped = new Counter({
    name: "partner_skipped_entries_total",
    help: "Entries of the partner's lists that were skipped",
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
