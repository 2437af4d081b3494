import { Gauge, type Registry } from "prom-client";
import type { Database } from "#projections/log/database.ts";
import { readUnresolvedTotals } from "#projections/sales/read-unresolved-events.ts";

/** Events that make no sale although they announce a trade; read on each scrape, omitted on failure. */
export function gaugeUnresolvedEvents(
  registry: Registry,
  db: Database,
  chains: readonly number[],
): void {
  const unresolved = new Gauge({
    name: "exchange_events_unresolved",
    help: "Events of exchanges that announce a trade and make no sale: op sources unresolved",
    labelNames: ["chain", "protocol", "reason"],
    registers: [registry],
    async collect() {
      const totals = await readUnresolvedTotals(db).catch(() => []);
      unresolved.reset();
      for (const { chainId, protocol, reason, events } of totals) {
        if (!chains.includes(chainId)) continue;
        unresolved.set({ chain: `${chainId}`, protocol, reason }, Number(events));
      }
    },
  });
}
