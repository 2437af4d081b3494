import type { Logger } from "pino";
import { ensChain } from "../../../chains/index.ts";
import { allProjections } from "../../../projections/all.ts";
import type { Database } from "../../../projections/database.ts";
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
import { runJob } from "../../background/log-signal/run-job.ts";
import { createThrottledSignal, type Signal } from "../../background/log-signal/signal.ts";
import { openPartners } from "../../background/marketplaces/open-partners.ts";
import type { Partner } from "../../background/marketplaces/partner.ts";
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
  const backgroundDb = openRoleDatabase(context, {
    applicationName: "jobs background",
    max: backgroundConnections,
    // A job may wait for others' statements longer than for a server that is gone.
    connectionTimeoutMs: 60_000,
  });
  const chainIds = config.chains.map(({ chainId }) => chainId);
  const chains = config.chains.map((chain) => openChain(chain, { config, db, logger, signal }));
  const clients = chains.map(({ client }) => client);
  const ethereum = clients.find(({ chainId }) => chainId === ensChain.id);
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
  const job = (
    name: string,
    reads: readonly string[],
    run: (changeSignal: Signal) => Promise<void>,
    everyMs = backgroundMs,
  ) => {
    const changeSignal = createThrottledSignal(everyMs);
    signals.push(changeSignal);
    const read = projections.filter((one) => reads.includes(one.name));
    const derivedFirst = async () => {
      await waitUntilDerived(read, { db, changeSignal, signal });
      if (!signal.aborted) await run(changeSignal);
    };
    return runJob(name, derivedFirst, { logger, signal });
  };
  const orderBooks = ["listings", "bids"];
  const forOrders = { db, logger, signal };
  const forOthers = { db: backgroundDb, logger, signal };
  const generalJobs = () => [
    job(
      "clock ticks",
      orderBooks,
      (changeSignal) => runClockTicks({ ...forOrders, changeSignal }),
      orderSweepMs,
    ),
    job("floor snapshots", ["collection_stats", "floors", "listings"], () =>
      runFloorSnapshots({ ...forOthers, chainIds }),
    ),
    job("analyst limits", [], () => runAnalystLimits(forOthers)),
    job("analytics copies", copiedProjections, () =>
      runAnalyticsSync({
        ...forOrders,
        ...config.analytics,
        url: config.database.url,
      }),
    ),
    job("coin prices", [], () =>
      runPriceUpdates({ ...forOthers, feeds: config.prices.feeds, ethereum }),
    ),
    job("rarity", ["collections", "traits"], (changeSignal) =>
      runRarityRanking({ ...forOthers, changeSignal }),
    ),
  ];
  const partnerJobs = (partner: Partner) => [
    job(`listings of ${partner.name}`, ["collections", "listings"], () =>
      runPartnerSync({
        ...forOthers,
        partner,
        chainIds,
        now,
        intervalMs: partnerIntervalMs,
        feeLimits: config.partners.feeLimits,
      }),
    ),
    job(`posts to ${partner.name}`, ["cross_listings", "listings"], (changeSignal) =>
      runCrossListingPosts({ ...forOthers, partner, chainIds, changeSignal, now }),
    ),
  ];
  const chainJobs = ({ client, changing, head, sources }: ReturnType<typeof openChain>) => [
    ...sources.map((source) =>
      job("unindexed events", orderBooks, () =>
        followUnindexed({ ...forOrders, client, source, head }),
      ),
    ),
    job("contract descriptions", ["collections"], (changeSignal) =>
      runContractDescriptions({ ...forOthers, client, changeSignal }),
    ),
    job("royalties", ["collections", "ownership"], (changeSignal) =>
      runRoyaltyFetches({ ...forOthers, client, changeSignal, now }),
    ),
    job(
      "order sweep",
      orderBooks,
      (changeSignal) => runOrderSweep({ ...forOrders, client, changing, intervalMs, changeSignal }),
      orderSweepMs,
    ),
    job(
      "contract rechecks",
      orderBooks,
      (changeSignal) => runContractRechecks({ ...forOrders, client, changing, head, changeSignal }),
      recheckMs,
    ),
    job("metadata", ["metadata", "ownership", "sales"], (changeSignal) =>
      runMetadataRefresh({ ...forOthers, client, fetcher, changeSignal, now }),
    ),
  ];
  try {
    const served = new Set<number>(chainIds);
    const curated = config.curated.collections.filter(({ chainId }) => served.has(chainId));
    const registered = await registerCuratedCollections(db, curated, new Date());
    if (registered > 0) logger.info({ collections: registered }, "curated collections registered");
    onReady();
    await Promise.all([
      ...generalJobs(),
      ...partners.flatMap(partnerJobs),
      ...chains.flatMap(chainJobs),
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
