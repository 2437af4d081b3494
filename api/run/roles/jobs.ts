import { once } from "node:events";
import type { Logger } from "pino";
import { allProjections } from "../../../projections/all.ts";
import type { Database } from "../../../projections/database.ts";
import { mainCell } from "../../../projections/log/cells/main-cell.ts";
import { copiedProjections } from "../../../projections/reads/analytics/capture/data-sets.ts";
import { runAnalyticsSync } from "../../background/analytics/run-analytics-sync.ts";
import { openChainClient } from "../../background/chain/clients.ts";
import { runClockTicks } from "../../background/jobs/append-clock-ticks.ts";
import { createChangingContracts } from "../../background/jobs/changing-contracts.ts";
import { runContractDescriptions } from "../../background/jobs/describe-contracts.ts";
import { runRoyaltyFetches } from "../../background/jobs/fetch-royalties.ts";
import { runAnalystLimits } from "../../background/jobs/limit-analysts.ts";
import { runCrossListingPosts } from "../../background/jobs/post-cross-listings.ts";
import { runRarityRanking } from "../../background/jobs/rank-rarity.ts";
import { runContractRechecks } from "../../background/jobs/recheck-contracts.ts";
import { runMetadataRefresh } from "../../background/jobs/refresh-metadata.ts";
import { registerCuratedCollections } from "../../background/jobs/register-curated.ts";
import { runFloorSnapshots } from "../../background/jobs/snapshot-floors.ts";
import { runOrderSweep } from "../../background/jobs/sweep-orders.ts";
import { runPartnerSync } from "../../background/jobs/sync-partners.ts";
import { runPriceUpdates } from "../../background/jobs/update-prices.ts";
import { waitUntilDerived } from "../../background/jobs/wait-until-derived.ts";
import { openListener } from "../../background/log-signal/listener.ts";
import {
  createSignal,
  createThrottledSignal,
  type Signal,
} from "../../background/log-signal/signal.ts";
import { openPartners } from "../../background/marketplaces/open-partners.ts";
import { background } from "../../background/marketplaces/transport.ts";
import { openDocumentFetcher } from "../../background/metadata/document-fetcher.ts";
import { followUnindexed } from "../../background/unindexed/follow-unindexed.ts";
import { openHeadWatch } from "../../background/unindexed/head-watch.ts";
import { unindexedSources } from "../../background/unindexed/unindexed-sources.ts";
import type { ChainConfig } from "../config/chain-config.ts";
import { readFollowedCollections } from "../indexer/indexers.ts";
import { type LeaderContext, openRoleDatabase, runLeaderRole } from "./leader-role.ts";
import type { RoleConfig, RoleContext, RunningRole } from "./role.ts";

/** Least time between two runs of a job that no request waits for. */
const backgroundMs = 500;
/** The same of those that orders wait for. Not less: order intake needs the same processors. */
const orderSweepMs = 100;
/** The same of the looks for orders that a block's events made worth rechecking. */
const recheckMs = 250;

/**
 * Connections of the jobs that no order waits for. Each works on a processor of the database: what partners, metadata
 * and contracts ask for, however much, leaves the others to requests.
 */
const backgroundConnections = 3;

/** Background jobs: observations of chains, partners and prices. One process works, others are standbys. */
export async function runRole(context: RoleContext): Promise<RunningRole> {
  const connections = 2 + 2 * context.config.chains.length;
  return runLeaderRole(context, { name: "jobs", connections, work });
}

async function work({ context, db, signal, onReady }: LeaderContext): Promise<void> {
  const { config, logger } = context;
  const intervalMs = config.checkIntervalSeconds * 1_000;
  const partnerIntervalMs = config.partners.intervalSeconds * 1_000;
  const signals: Signal[] = [];
  const now = () => new Date();
  const notifiedWithAll = (one: Signal) => {
    signals.push(one);
    return one;
  };
  const throttled = (everyMs = backgroundMs) => notifiedWithAll(createThrottledSignal(everyMs));
  const backgroundDb = openRoleDatabase(context, {
    applicationName: "jobs background",
    max: backgroundConnections,
    // A job may wait for others' statements longer than for a server that is gone.
    connectionTimeoutMs: 60_000,
  });
  const chainIds = config.chains.map(({ chainId }) => chainId);
  const chains = config.chains.map((chain) => openChain(chain, { config, db, logger, signal }));
  const clients = chains.map(({ client }) => client);
  const ethereum = clients.find(({ chainId }) => chainId === 1);
  const listener = openListener({
    url: config.database.url,
    channels: ["projected"],
    logger,
    onNotify: () => {
      for (const one of signals) one.notify();
    },
  });
  const fetcher = openDocumentFetcher(config.metadata);
  const partners = openPartners(config.partners, background);
  const projections = allProjections({ feeRecipient: config.fees.recipient });
  /** Runs a job once the projections that it reads have been derived by this version. */
  const after = async (names: readonly string[], run: () => Promise<void>) => {
    const read = projections.filter(({ name }) => names.includes(name));
    await waitUntilDerived(read, {
      db,
      changeSignal: notifiedWithAll(createSignal()),
      signal,
    });
    if (!signal.aborted) await run();
  };
  const orderBooks = ["listings", "bids"];
  const forOrders = { db, logger, signal };
  const forOthers = { db: backgroundDb, logger, signal };
  const runAll = () => [
    after(orderBooks, () => runClockTicks({ ...forOrders, changeSignal: throttled(orderSweepMs) })),
    after(["collection_stats", "floors", "listings"], () =>
      runFloorSnapshots({ ...forOthers, chainIds }),
    ),
    runAnalystLimits(forOthers),
    after(copiedProjections, () =>
      runAnalyticsSync({
        ...forOrders,
        ...config.analytics,
        url: config.database.url,
        cell: context.cell ?? mainCell,
        lockUrl: (context.cells?.[0].config ?? config).database.url,
      }),
    ),
    runPriceUpdates({ ...forOthers, feeds: config.prices.feeds, ethereum }),
    after(["collections", "traits"], () =>
      runRarityRanking({ ...forOthers, changeSignal: throttled() }),
    ),
    ...partners.flatMap((partner) => [
      after(["collections", "listings"], () =>
        runPartnerSync({
          ...forOthers,
          partner,
          chainIds,
          now,
          intervalMs: partnerIntervalMs,
          feeLimits: config.partners.feeLimits,
        }),
      ),
      after(["cross_listings", "listings"], () =>
        runCrossListingPosts({ ...forOthers, partner, chainIds, changeSignal: throttled(), now }),
      ),
    ]),
    ...chains.flatMap(({ client, changing, head, sources }) => [
      ...sources.map((source) =>
        after(orderBooks, () => followUnindexed({ ...forOrders, client, source, head })),
      ),
      after(["collections"], () =>
        runContractDescriptions({ ...forOthers, client, changeSignal: throttled() }),
      ),
      after(["collections", "ownership"], () =>
        runRoyaltyFetches({ ...forOthers, client, changeSignal: throttled(), now }),
      ),
      after(orderBooks, () =>
        runOrderSweep({
          ...{ ...forOrders, client, changing, intervalMs },
          changeSignal: throttled(orderSweepMs),
        }),
      ),
      after(orderBooks, () =>
        runContractRechecks({
          ...{ ...forOrders, client, changing, head },
          changeSignal: throttled(recheckMs),
        }),
      ),
      after(["metadata", "ownership", "sales"], () =>
        runMetadataRefresh({ ...forOthers, client, fetcher, changeSignal: throttled(), now }),
      ),
    ]),
  ];
  try {
    const served = new Set<number>(chainIds);
    const curated = config.curated.collections.filter(({ chainId }) => served.has(chainId));
    const registered = await registerCuratedCollections(db, curated, new Date());
    if (registered > 0) logger.info({ collections: registered }, "curated collections registered");
    onReady();
    await Promise.race([
      // A chain may take long to answer; its answer is not awaited after the stop.
      aborted(signal),
      Promise.all(runAll()),
    ]);
  } finally {
    const opened = [fetcher, ...partners];
    await Promise.all([listener.stop(), ...opened.map((one) => one.close())]);
    await backgroundDb.destroy();
  }
}

type ChainOptions = { config: RoleConfig; db: Database; logger: Logger; signal: AbortSignal };

/** The client of a chain, its head, and what orders depend on that is not indexed. */
function openChain(chain: ChainConfig, { config, db, logger, signal }: ChainOptions) {
  const client = openChainClient(chain);
  const head = openHeadWatch({ client, wsUrl: chain.wsUrl, logger, signal });
  const sources = unindexedSources(db, client, {
    wrappedNativeEvents: chain.wrappedNativeEvents,
    readIndexedCollections:
      chain.collections === "all" ? null : () => readFollowedCollections(db, chain, config.curated),
  });
  const changing = createChangingContracts(config.contractChangesPerHour);
  return { client, changing, head, sources };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
