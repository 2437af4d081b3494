import { Gauge, type Registry } from "prom-client";
import type { Database } from "../../../projections/database.ts";
import { readDoubtTotals } from "../../../projections/reads/sales/read-doubts.ts";

/** Events that make no sale although they announce a trade; read on each scrape, omitted on failure. */
export function gaugeDoubts(registry: Registry, db: Database): void {
  const doubted = new Gauge({
    name: "exchange_events_doubted",
    help: "Events of exchanges that announce a trade and make no sale: op sources doubts",
    labelNames: ["chain", "protocol", "reason"],
    registers: [registry],
    async collect() {
      const totals = await readDoubtTotals(db).catch(() => []);
      doubted.reset();
      for (const { chainId, protocol, reason, doubts } of totals) {
        doubted.set({ chain: `${chainId}`, protocol, reason }, Number(doubts));
      }
    },
  });
}
