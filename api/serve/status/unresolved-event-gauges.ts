import { Gauge, type Registry } from "prom-client";
import type { Database } from "../../../projections/database.ts";
import { readUnresolvedTotals } from "../../../projections/reads/sales/read-unresolved-events.ts";

/** A database, and the chains that it serves. */
type Place = { readonly db: Database; readonly chains: readonly number[] };

/** A chain that was moved away has left its events. */
const readOwn = async ({ db, chains }: Place) =>
  (await readUnresolvedTotals(db).catch(() => [])).filter(({ chainId }) =>
    chains.includes(chainId),
  );

/** Events that make no sale although they announce a trade; read on each scrape, omitted on failure. */
export function gaugeUnresolvedEvents(registry: Registry, cells: () => readonly Place[]): void {
  const unresolved = new Gauge({
    name: "exchange_events_unresolved",
    help: "Events of exchanges that announce a trade and make no sale: op sources unresolved",
    labelNames: ["chain", "protocol", "reason"],
    registers: [registry],
    async collect() {
      const totals = (await Promise.all(cells().map(readOwn))).flat();
      unresolved.reset();
      for (const { chainId, protocol, reason, events } of totals) {
        unresolved.set({ chain: `${chainId}`, protocol, reason }, Number(events));
      }
    },
  });
}
