import { Counter, Gauge, type Registry } from "prom-client";
import type { Database } from "#projections/log/database.ts";
import { readCalls, readBudgets } from "#projections/log/outgoing-calls.ts";

/** Calls of all processes to nodes and partners, most of which have no HTTP server: read on each scrape, omitted on failure. */
export function gaugeOutgoing(registry: Registry, db: Database, now: () => Date): void {
  const calls = new Counter({
    name: "rpc_calls_total",
    help: "JSON-RPC calls to nodes by what became of them: result, reverted (by the contract), error (the node's), no_answer",
    labelNames: ["role", "chain", "method", "outcome"],
    registers: [registry],
    async collect() {
      const counted = await readCalls(db, "node", now()).catch(() => []);
      calls.reset();
      for (const { role, target: chain, method, outcome, calls: count } of counted) {
        calls.inc({ role, chain, method, outcome }, count);
      }
    },
  });
  const requests = new Counter({
    name: "partner_requests_total",
    help: "Requests to partners by budget and outcome: answered, limited (HTTP 429), refused (another status), no_answer",
    labelNames: ["role", "marketplace", "budget", "outcome"],
    registers: [registry],
    async collect() {
      const counted = await readCalls(db, "partner", now()).catch(() => []);
      requests.reset();
      for (const { role, target: marketplace, method: budget, outcome, calls } of counted) {
        requests.inc({ role, marketplace, budget, outcome }, calls);
      }
    },
  });
  const left = new Gauge({
    name: "partner_budget_left",
    help: "Requests to the partner that are possible at once, by the process of the role that made the last one",
    labelNames: ["role", "marketplace", "budget"],
    registers: [registry],
    async collect() {
      const budgets = await readBudgets(db, now()).catch(() => []);
      left.reset();
      for (const { role, marketplace, budget, left: possible } of budgets) {
        left.set({ role, marketplace, budget }, possible);
      }
    },
  });
}
