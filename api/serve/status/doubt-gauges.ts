import { Gauge, type Registry } from "prom-client";
import type { Database } from "../../../projections/database.ts";
import { readDoubtTotals } from "../../../projections/reads/sales/read-doubts.ts";

/** A database, and the chains that it serves. */
type Place = { readonly db: Database; readonly chains: readonly number[] };

/** A chain that was moved away has left its events. */
const readOwn = async ({ db, chains }: Place) =>
  (await readDoubtTotals(db).catch(() => [])).filter(({ chainId }) => chains.includes(chainId));

/** Events that make no sale although they announce a trade; read on each scrape, omitted on failure. */
export function gaugeDoubts(registry: Registry, cells: () => readonly Place[]): void {
  const doubted = new Gauge({
    name: "exchange_events_doubted",
    help: "Events of exchanges that announce a trade and make no sale: op sources doubts",
    labelNames: ["chain", "protocol", "reason"],
    registers: [registry],
    async collect() {
      const totals = (await Promise.all(cells().map(readOwn))).flat();
      doubted.reset();
      for (const { chainId, protocol, reason, doubts } of totals) {
        doubted.set({ chain: `${chainId}`, protocol, reason }, Number(doubts));
      }
    },
  });
}
