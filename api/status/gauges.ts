import { Counter, Gauge, type Registry } from "prom-client";
import { readCopyProgress } from "#projections/analytics/copy-source.ts";
import type { Database } from "#projections/log/database.ts";
import { readBudgets, readCalls } from "#projections/log/outgoing-calls.ts";
import {
  readSyncMetrics,
  type SyncMetrics,
} from "#projections/partners/read-synced-collections.ts";
import { readUnresolvedTotals } from "#projections/sales/read-unresolved-events.ts";
import type { CallerStreams } from "../accounts/caller-streams.ts";
import type { Feed } from "../feed/open-feed.ts";
import type { Market } from "../orders/market.ts";
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

/** Metrics of this process's live feed. */
export function gaugeFeed(registry: Registry, { figures }: Pick<Feed, "figures">): void {
  new Gauge({
    name: "feed_readers",
    help: "Open streams of the live feed",
    registers: [registry],
    collect() {
      this.set(figures().readers);
    },
  });
  new Counter({
    name: "feed_readers_cut_total",
    help: "Streams closed because their client was too slow",
    registers: [registry],
    collect() {
      this.reset();
      this.inc(figures().cut);
    },
  });
}

/** Metrics of the streams of callers in this process. */
export function gaugeCallerStreams(
  registry: Registry,
  { figures }: Pick<CallerStreams, "figures">,
): void {
  const registers = [registry];
  new Gauge({
    name: "caller_streams_open",
    help: "Open streams, counted for accounts and addresses",
    registers,
    collect() {
      this.set(figures().open);
    },
  });
  new Counter({
    name: "caller_streams_refused_total",
    help: "Streams refused because their account or address had as many as it may",
    registers,
    collect() {
      this.reset();
      this.inc(figures().refused);
    },
  });
  new Counter({
    name: "caller_streams_ended_total",
    help: "Streams ended because their token or key was no longer valid",
    registers,
    collect() {
      this.reset();
      this.inc(figures().ended);
    },
  });
}

/** Metrics of the jobs role, which has no HTTP server: read from the database on each scrape, omitted on failure. */
export function gaugePartners(registry: Registry, db: Database): void {
  let reading: Promise<SyncMetrics | null> | null = null;
  const read = () => {
    reading ??= readSyncMetrics(db)
      .catch(() => null)
      .finally(() => {
        reading = null;
      });
    return reading;
  };

  type Figure = (one: SyncMetrics["collections"][number]) => number | null;
  function gauge(name: string, help: string, figure: Figure) {
    const registered = new Gauge({
      name,
      help,
      labelNames: ["marketplace"],
      registers: [registry],
      async collect() {
        registered.reset();
        for (const one of (await read())?.collections ?? []) {
          const value = figure(one);
          if (value !== null) registered.set({ marketplace: one.marketplace }, value);
        }
      },
    });
  }

  gauge(
    "partner_contracts",
    "Contracts whose listings are synchronised from the partner",
    ({ contracts }) => contracts,
  );
  gauge(
    "partner_contracts_unread",
    "Contracts without a completed full pass",
    ({ unread }) => unread,
  );
  gauge(
    "partner_oldest_pass_seconds",
    "Seconds since the oldest of the contracts' last full passes ended",
    ({ oldestSeconds }) => oldestSeconds,
  );
  gauge(
    "partner_creator_fees_held",
    "Contracts whose creator fees according to the partner wait for an operator: op royalties list",
    ({ held }) => held,
  );
  const skipped = new Counter({
    name: "partner_skipped_entries_total",
    help: "Entries of the partner's lists that were skipped",
    labelNames: ["marketplace", "reason"],
    registers: [registry],
    async collect() {
      skipped.reset();
      for (const { entries, ...labels } of (await read())?.skipped ?? []) {
        skipped.inc(labels, Number(entries));
      }
    },
  });
}

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

/** How far the copy in ClickHouse is behind; read on each scrape, omitted on failure and where there is none. */
export function gaugeAnalytics(registry: Registry, db: Database): void {
  const age = new Gauge({
    name: "analytics_engine_age_seconds",
    help: "Seconds since the last sync of the copy in ClickHouse that succeeded: op analytics status",
    registers: [registry],
    collect() {
      age.reset();
    },
  });
  const behind = new Gauge({
    name: "analytics_engine_behind_facts",
    help: "Facts of the log that the copy in ClickHouse does not hold yet",
    registers: [registry],
    async collect() {
      const copy = await readCopyProgress(db).catch(() => null);
      behind.reset();
      if (copy === null) return;
      behind.set(Number(copy.behind));
      if (copy.syncedAt !== null) age.set((Date.now() - copy.syncedAt.getTime()) / 1_000);
    },
  });
}

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
