import { Gauge, Histogram, type Registry } from "prom-client";
import type { WaitOutcome } from "../http/reads/positioned-reads.ts";
import type { ReplicaState } from "../http/reads/replicas.ts";

/** Reads that waited for the position of their request. Registered with the other metrics. */
export function openWaitHistogram() {
  const histogram = new Histogram({
    name: "position_wait_seconds",
    help: "Reads that waited for the position of their request: reached, read from the primary, or not reached",
    labelNames: ["outcome"],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    registers: [],
  });
  return {
    histogram,
    count: (ms: number, outcome: WaitOutcome) => histogram.observe({ outcome }, ms / 1_000),
  };
}

export type ReplicaFigures = {
  readonly states: () => readonly ReplicaState[];
  readonly waits: Histogram<string>;
};

/** Metrics of the read replicas, and of reads that waited for a position. */
export function gaugeReplicas(registry: Registry, { states, waits }: ReplicaFigures): void {
  const lag = new Gauge({
    name: "database_replica_lag_seconds",
    help: "How long ago the primary was where the replica is; -1: it does not answer",
    labelNames: ["replica"],
    registers: [registry],
    collect() {
      for (const { name, lagSeconds } of states()) lag.set({ replica: name }, lagSeconds ?? -1);
    },
  });
  const used = new Gauge({
    name: "database_replica_used",
    help: "1: the API reads from the replica; 0: it is down or too far behind",
    labelNames: ["replica"],
    registers: [registry],
    collect() {
      for (const { name, isUsed } of states()) used.set({ replica: name }, Number(isUsed));
    },
  });
  registry.registerMetric(waits);
}
