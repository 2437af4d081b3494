import type { SoakMarket } from "../soak/market.ts";
import { readUsage } from "./process-usage.ts";
import { readRunningMarket } from "./running-market.ts";

/** What the service has used up to now. */
export type Costs = {
  readonly at: number;
  readonly bytes: number;
  readonly cpuSeconds: number;
  readonly rpcCalls: number;
};

export const nothing: Costs = { at: 0, bytes: 0, cpuSeconds: 0, rpcCalls: 0 };

export async function readCosts(market: SoakMarket): Promise<Costs> {
  const running = await readRunningMarket(market.dataDir);
  const usage = await readUsage(market.service().pid);
  return {
    at: performance.now(),
    bytes: await running.readDatabaseBytes(),
    cpuSeconds: [...usage.values()].reduce((sum, one) => sum + one.cpuSeconds, 0),
    rpcCalls: Object.values(market.nodes).reduce((sum, { calls }) => sum + calls, 0),
  };
}

export const costsBetween = (before: Costs, after: Costs): Costs => ({
  at: after.at - before.at,
  bytes: after.bytes - before.bytes,
  cpuSeconds: after.cpuSeconds - before.cpuSeconds,
  rpcCalls: after.rpcCalls - before.rpcCalls,
});

export const sumOf = (one: Costs, other: Costs): Costs => ({
  at: one.at + other.at,
  bytes: one.bytes + other.bytes,
  cpuSeconds: one.cpuSeconds + other.cpuSeconds,
  rpcCalls: one.rpcCalls + other.rpcCalls,
});

/** Without what the same time costs alone. */
export function beyond(costs: Costs, alone: Costs): Costs {
  const share = alone.at === 0 ? 0 : costs.at / alone.at;
  return {
    at: costs.at,
    bytes: costs.bytes - alone.bytes * share,
    cpuSeconds: costs.cpuSeconds - alone.cpuSeconds * share,
    rpcCalls: costs.rpcCalls - alone.rpcCalls * share,
  };
}

/** The most memory that each process of the service had, by name; looks until aborted. */
export async function watchMemory(
  market: SoakMarket,
  look: () => Promise<void>,
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const most = new Map<string, number>();
  while (!signal.aborted) {
    for (const [entry, { megabytes }] of await readUsage(market.service().pid)) {
      // PostgreSQL's processes change their titles.
      const id = `${entry.split(" ")[0]} `;
      const name = [...most.keys()].find((one) => one.startsWith(id)) ?? entry;
      most.set(name, Math.max(most.get(name) ?? 0, megabytes));
    }
    await look();
  }
  return most;
}
