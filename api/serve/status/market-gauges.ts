import { Counter, Gauge, type Registry } from "prom-client";
import type { Market } from "#api/orders/market.ts";

/** Metrics of this process's order intake. */
export function gaugeMarket(registry: Registry, market: Market): void {
  const submissions = new Counter({
    name: "order_submissions_total",
    help: "Submitted orders by outcome: accepted, or the code of the rejection",
    labelNames: ["chain", "side", "outcome"],
    registers: [registry],
    collect() {
      submissions.reset();
      for (const { chainId, side, outcome, orders } of market.readOutcomes()) {
        submissions.inc({ chain: `${chainId}`, side, outcome }, orders);
      }
    },
  });
  const coolingDown = new Gauge({
    name: "contracts_cooling_down",
    help: "Contracts that are not called for a while, as their answers were late or burned all gas",
    labelNames: ["chain"],
    registers: [registry],
    collect() {
      coolingDown.reset();
      for (const { chainId, health } of market.chains) {
        coolingDown.inc({ chain: `${chainId}` }, health.countCoolingDown());
      }
    },
  });
}
