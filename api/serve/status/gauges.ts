import { Gauge, type Registry } from "prom-client";
import type { ServiceStatus } from "./service-status.ts";
import type { StatusReader } from "./status-reader.ts";

/** Figures of the service's parts, read when they are asked for. A figure that is unknown is left out. */
export function gaugeStatus(registry: Registry, readStatus: StatusReader): void {
  const perChain = (name: string, help: string, figure: (chain: Chain) => number | null) =>
    gauge(name, help, "chain", ({ chains }) => chains.map((one) => [one.chainId, figure(one)]));
  const perProjection = (name: string, help: string, figure: (one: Projection) => number) =>
    gauge(name, help, "projection", ({ projections }) =>
      projections.map((one) => [one.name, figure(one)]),
    );

  function gauge(
    name: string,
    help: string,
    label: string,
    figures: (status: ServiceStatus) => [string | number, number | null][],
  ) {
    const registered = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      async collect() {
        const status = await readStatus();
        registered.reset();
        for (const [value, figure] of figures(status)) {
          if (figure !== null) registered.set({ [label]: String(value) }, figure);
        }
      },
    });
  }

  perChain(
    "chain_head_block",
    "Head that the chain's RPC tells",
    ({ head }) => head?.number ?? null,
  );
  perChain("indexer_block", "Last block indexed", ({ indexed }) => indexed?.number ?? null);
  perChain("indexer_lag_blocks", "Blocks not indexed yet", ({ lagBlocks }) => lagBlocks);
  perChain(
    "indexer_lag_seconds",
    "Age difference of head and indexed block",
    (one) => one.lagSeconds,
  );
  perChain(
    "log_block",
    "Highest block that the log holds facts of",
    ({ recorded }) => recorded?.number ?? null,
  );
  gauge(
    "part_failing",
    "1 for each part that keeps the service from being ready",
    "part",
    (status) => status.failing.map(({ part }) => [part, 1]),
  );
  perProjection("projection_position", "Facts of the log read", ({ position }) => position);
  const leftOut = new Gauge({
    name: "projection_facts_left_out",
    help: "Facts that a projection could not take in and leaves out",
    labelNames: ["projection", "chain"],
    registers: [registry],
    async collect() {
      const { warnings } = await readStatus();
      leftOut.reset();
      for (const one of warnings) {
        if (one.kind !== "facts_left_out") continue;
        leftOut.set({ projection: one.projection, chain: `${one.chainId ?? "none"}` }, one.facts);
      }
    },
  });
  perProjection("projection_lag_facts", "Facts of the log not read yet", ({ lag }) => lag);
}

type Chain = ServiceStatus["chains"][number];
type Projection = ServiceStatus["projections"][number];
