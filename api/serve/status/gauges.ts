import { Gauge, type Registry } from "prom-client";
import type { ServiceStatus } from "./service-status.ts";
import type { StatusReader } from "./status-reader.ts";

/** Metrics of the service's parts, read on each scrape. Unknown values are omitted. */
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
    "Head block reported by the chain's nodes",
    ({ head }) => head?.number ?? null,
  );
  perChain("indexer_block", "Last block indexed", ({ indexed }) => indexed?.number ?? null);
  perChain(
    "indexer_lag_blocks",
    "Blocks between the head and the last indexed block",
    ({ lagBlocks }) => lagBlocks,
  );
  perChain(
    "indexer_lag_seconds",
    "Seconds between the head's and the last indexed block's timestamps",
    (one) => one.lagSeconds,
  );
  perChain(
    "log_block",
    "Highest block with facts in the log",
    ({ recorded }) => recorded?.number ?? null,
  );
  perChain(
    "history_proved_share",
    "Part of the indexed history that is proved without a gap, 0 to 1",
    ({ history }) => history?.share ?? null,
  );
  perChain(
    "history_repaired_blocks",
    "Blocks in which the log differed from the chain and was mended",
    ({ history }) => history?.repaired ?? null,
  );
  gauge("part_failing", "1 for each part that makes /readyz answer 503", "part", (status) =>
    status.failing.map(({ part }) => [part, 1]),
  );
  perProjection(
    "projection_position",
    "Position up to which the projection has applied the log",
    ({ position }) => position,
  );
  const excluded = new Gauge({
    name: "projection_facts_excluded",
    help: "Facts that a projection excludes because it fails on them",
    labelNames: ["projection", "chain"],
    registers: [registry],
    async collect() {
      const { warnings } = await readStatus();
      excluded.reset();
      for (const one of warnings) {
        if (one.kind !== "facts_excluded") continue;
        excluded.set({ projection: one.projection, chain: `${one.chainId ?? "none"}` }, one.facts);
      }
    },
  });
  perProjection(
    "projection_lag_facts",
    "Facts in the log that the projection has not applied yet",
    ({ lag }) => lag,
  );
}

type Chain = ServiceStatus["chains"][number];
type Projection = ServiceStatus["projections"][number];
