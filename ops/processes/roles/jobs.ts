import type { Logger } from "pino";
import { openWebhookEvents } from "#api/webhooks/webhook-events.ts";
import { ensChain } from "#chains/index.ts";
import { analyticsSync } from "#jobs/analytics/sync-clickhouse.ts";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import { contractDescriptions } from "#jobs/collections/describe-contracts.ts";
import { royaltyFetches } from "#jobs/collections/fetch-royalties.ts";
import { rarityRanking } from "#jobs/collections/rank-rarity.ts";
import { registerCuratedCollections } from "#jobs/collections/register-curated.ts";
import { floorSnapshots } from "#jobs/collections/snapshot-floors.ts";
import { analystLimits } from "#jobs/database-upkeep.ts";
import { openDocumentFetcher } from "#jobs/metadata/document-fetcher.ts";
import { metadataRefresh } from "#jobs/metadata/refresh-metadata.ts";
import { createChangingContracts } from "#jobs/orders/changing-contracts.ts";
import { unindexedEvents } from "#jobs/orders/follow-unindexed.ts";
import { openHeadWatch } from "#jobs/orders/head-watch.ts";
import { contractRechecks } from "#jobs/orders/recheck-contracts.ts";
import { orderSweep } from "#jobs/orders/sweep-orders.ts";
import { unindexedSources } from "#jobs/orders/unindexed-sources.ts";
import { openPartners } from "#jobs/partners/open-partners.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import { crossListingPosts } from "#jobs/partners/post-cross-listings.ts";
import { partnerSync } from "#jobs/partners/sync-partners.ts";
import { background } from "#jobs/partners/transport.ts";
import { priceUpdates } from "#jobs/prices/update-prices.ts";
import { clockTicks } from "#jobs/recording/clock-ticks.ts";
import type { Job } from "#jobs/runner/job.ts";
import { createThrottledSignal, openListener, type Signal } from "#jobs/runner/signals.ts";
import { webhookDeliveries } from "#jobs/webhooks/deliver-webhooks.ts";
import type { ChainConfig } from "#ops/config/config.ts";
import { readFollowedCollections } from "#ops/ponder/indexers.ts";
import type { Database } from "#projections/log/database.ts";
import { type LeaderContext, openRoleDatabase, runLeaderRole } from "./leader.ts";
import { type RoleConfig, type RoleContext, type RunningRole, runRoleJobs } from "./role.ts";

/** Least time between two runs of a job that no request waits for. */
const backgroundMs = 500;
/** The same of those that orders wait for. Not less: order intake needs the same processors. */
const orderSweepMs = 100;
/** The same of the looks for orders that a block's events made worth rechecking. */
const recheckMs = 250;

/** The same of events that are sent to webhooks. */
const webhookMs = 20;

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
  const backgroundDb = openRoleDatabase(context, {
    applicationName: "jobs background",
    max: backgroundConnections,
    // A job may wait for others' statements longer than for a server that is gone.
    connectionTimeoutMs: 60_000,
  });
  // Of as many receivers as there are, each of which waits for what is stored of it.
  const webhookDb = openRoleDatabase(context, { applicationName: "webhooks", max: 3 });
  const signals: Signal[] = [];
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
  const projected = (everyMs = backgroundMs) => {
    const changeSignal = createThrottledSignal(everyMs);
    signals.push(changeSignal);
    return changeSignal;
  };
  const shared = {
    config,
    db,
    backgroundDb,
    webhookDb,
    partners,
    fetcher,
    projected,
    logger,
    signal,
  };
  try {
    await registerCurated(config, db, logger);
    onReady();
    await runRoleJobs(openJobs(shared), { config, db, logger, signal });
  } finally {
    const opened = [fetcher, ...partners];
    await Promise.all([listener.stop(), ...opened.map((one) => one.close())]);
    await Promise.all([backgroundDb.destroy(), webhookDb.destroy()]);
  }
}

async function registerCurated(config: RoleConfig, db: Database, logger: Logger): Promise<void> {
  const served = new Set<number>(config.chains.map(({ chainId }) => chainId));
  const curated = config.curated.collections.filter(({ chainId }) => served.has(chainId));
  const registered = await registerCuratedCollections(db, curated, new Date());
  if (registered > 0) logger.info({ collections: registered }, "curated collections registered");
}

type Shared = {
  config: RoleConfig;
  db: Database;
  /** Of jobs that no order waits for. */
  backgroundDb: Database;
  /** Of the deliveries of webhooks. */
  webhookDb: Database;
  partners: readonly Partner[];
  fetcher: ReturnType<typeof openDocumentFetcher>;
  /** A signal of changed projections, at most one in so many milliseconds. */
  projected: (everyMs?: number) => Signal;
  logger: Logger;
  signal: AbortSignal;
};

function openJobs(shared: Shared): Job[] {
  const { config, db, logger, signal, partners } = shared;
  const chains = config.chains.map((chain) => openChain(chain, { config, db, logger, signal }));
  const ethereum = chains
    .map(({ client }) => client)
    .find(({ chainId }) => chainId === ensChain.id);
  return [
    ...generalJobs(shared, ethereum),
    ...partners.flatMap((partner) => partnerJobs(shared, partner)),
    ...chains.flatMap((chain) => chainJobs(shared, chain)),
  ];
}

function generalJobs(
  { config, db, backgroundDb, webhookDb, projected, logger }: Shared,
  ethereum: ChainClient | undefined,
): Job[] {
  const [forOrders, forOthers] = [
    { db, logger },
    { db: backgroundDb, logger },
  ];
  const chainIds = config.chains.map(({ chainId }) => chainId);
  return [
    clockTicks({ ...forOrders, changeSignal: projected(orderSweepMs) }),
    floorSnapshots({ ...forOthers, chainIds }),
    analystLimits(forOthers),
    ...analyticsSync({ ...forOrders, ...config.analytics, url: config.database.url }),
    ...priceUpdates({ ...forOthers, feeds: config.prices.feeds, ethereum }),
    rarityRanking({ ...forOthers, changeSignal: projected() }),
    ...webhookDeliveries({
      ...{ db: webhookDb, chainIds, feeRecipient: config.fees.recipient, logger },
      openEvents: openWebhookEvents,
      projected: projected(webhookMs),
      sending: config.webhooks,
      now: () => new Date(),
    }),
  ];
}

function partnerJobs({ config, backgroundDb, projected, logger }: Shared, partner: Partner): Job[] {
  const chainIds = config.chains.map(({ chainId }) => chainId);
  const common = { db: backgroundDb, logger, partner, chainIds, now: () => new Date() };
  return [
    ...partnerSync({
      ...common,
      intervalMs: config.partners.intervalSeconds * 1_000,
      feeLimits: config.partners.feeLimits,
    }),
    ...crossListingPosts({ ...common, changeSignal: projected() }),
  ];
}

function chainJobs(
  { config, db, backgroundDb, projected, fetcher, logger }: Shared,
  { client, changing, head, sources }: ReturnType<typeof openChain>,
): Job[] {
  const forOrders = { db, logger, client };
  const forOthers = { db: backgroundDb, logger, client };
  const now = () => new Date();
  const intervalMs = config.checkIntervalSeconds * 1_000;
  return [
    ...sources.map((source) => unindexedEvents({ db, client, source, head })),
    contractDescriptions({ ...forOthers, changeSignal: projected() }),
    royaltyFetches({ ...forOthers, changeSignal: projected(), now }),
    orderSweep({ ...forOrders, changing, intervalMs, changeSignal: projected(orderSweepMs) }),
    contractRechecks({ ...forOrders, changing, head, changeSignal: projected(recheckMs) }),
    ...metadataRefresh({ ...forOthers, fetcher, changeSignal: projected(), now }),
  ];
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
