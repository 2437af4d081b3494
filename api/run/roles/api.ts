import type { Logger } from "pino";
import { projectionNames } from "#projections/all.ts";
import type { Database } from "#projections/log/database.ts";
import { openHashReader } from "#jobs/chain/client.ts";
import { openHeadReader } from "#jobs/chain/fetch-head.ts";
import { openMarket } from "#api/orders/open-market.ts";
import { openAccounts } from "#api/accounts/open-accounts.ts";
import { createApp } from "#api/app.ts";
import { answerFeed } from "#api/feed/answer-feed.ts";
import { startFeeds } from "#api/feed/start-feed.ts";
import { openConcurrencyLimiter } from "#api/http/concurrency.ts";
import { openMetrics } from "#api/http/metrics.ts";
import { openResponseCache } from "#api/http/reads/response-cache.ts";
import { type Listening, listen } from "#api/http/server.ts";
import { openAccess } from "#api/keys/open-access.ts";
import { openNftData } from "#api/account/mount.ts";
import { maxLagSeconds, statusPollMs } from "#api/status/service-status.ts";
import { listenForOperators } from "#api/status/operator-app.ts";
import { openWaitHistogram } from "#api/status/replica-gauges.ts";
import { openStatusReader } from "#api/status/status-reader.ts";
import { isLoopback } from "#ops/config/config.ts";
import { openReads } from "./open-reads.ts";
import type { RoleConfig, RoleContext, RunningRole } from "./role.ts";

const rpc = { timeoutMs: 2000, maxAgeMs: 1000, staleBlocks: 100 };

/** Serves HTTP requests of all chains. Any number of these processes may run. */
export async function runRole({ config, logger }: RoleContext): Promise<RunningRole> {
  const waits = openWaitHistogram();
  const market = openMarket(config, logger);
  const { database } = config;
  const opened = openReads({
    database,
    logger,
    written: market.writtenPosition,
    onWait: waits.count,
  });
  const { db, reads } = opened;
  const feeds = startFeeds(config, opened, logger);
  const readStatus = openStatus(config, { db, logger });
  const { host, port, metricsHost, metricsPort, baseUrl, siteUrl, accountApiPath } = config.http;
  const chains = config.chains.map(({ chainId }) => chainId);
  const { accounts, places, streams, ...accountParts } = openAccounts({ config, logger });
  const access = openAccess({
    config,
    logger,
    onUse({ accountId, address }) {
      if (accountId !== null) places.onUse({ accountId, address, credential: "an API key" });
    },
  });
  const { limiter, instantKeys, ownKeys } = access;
  const { trustProxy, limits } = config.access;
  const developers = {
    accounts,
    keyLimit: limits.permanent,
    accountApiUrl: `${baseUrl}/${accountApiPath}`,
  };
  const tokens = accountParts.bearerTokens;
  const parts = { db, prefix: market.prefix, tokens, limiter, onUse: places.onUse };
  const accountApi = openNftData(config, parts);
  const nftData = accountApi && { ...accountApi, stream: answerFeed(feeds.account) };
  const now = () => new Date();
  const context = { db, siteUrl, chains, readStatus, market, instantKeys, ownKeys, now };
  const responseCache = openResponseCache({ now });
  const concurrency = openConcurrencyLimiter(config.access.concurrency);
  const { publicGateways } = config;
  const served = {
    publicGateways,
    developers,
    nftData,
    feed: feeds,
    feedOf: feeds.feedOf,
    streams,
    responseCache,
    concurrency,
    reads,
    replicas: { states: opened.replicaStates, waits: waits.histogram },
  };
  // Where others reach the port, they do not get the metrics there.
  const isPublic = metricsPort !== null || !isLoopback(host);
  const operatorMetrics = isPublic ? openMetrics() : undefined;
  const app = createApp({
    context,
    baseUrl,
    logger,
    limiter,
    ...served,
    trustProxy,
    operatorMetrics,
  });
  const closeParts = () =>
    Promise.all([opened.close(), market.close(), access.close(), accountParts.close()]);
  const listening = await start(async () => {
    const main = await listen(app, host, port);
    if (metricsPort === null || operatorMetrics === undefined) return main;
    const operators = { metrics: operatorMetrics, readStatus, logger };
    return await listenForOperators(main, { host: metricsHost, port: metricsPort }, operators);
  });
  let isStopping = false;
  const statusTimer = setInterval(() => {
    readStatus().catch((error) => {
      // Its connections may be closed before it ends.
      if (!isStopping) logger.error({ err: error }, "status check failed");
    });
  }, statusPollMs);

  async function start(open: () => Promise<Listening>): Promise<Listening> {
    try {
      return await open();
    } catch (error) {
      await feeds.stop();
      await closeParts();
      throw error;
    }
  }
  return {
    ready: Promise.resolve(),
    failed: new Promise<never>(() => {}),
    async stop() {
      isStopping = true;
      clearInterval(statusTimer);
      await feeds.stop();
      await listening.close();
      await closeParts();
    },
  };
}

function openStatus({ chains }: RoleConfig, { db, logger }: { db: Database; logger: Logger }) {
  return openStatusReader({
    db,
    chains: chains.map(({ chainId, rpcUrls }) => ({
      chainId,
      readHead: openHeadReader({ chainId, rpcUrls, ...rpc }),
      readHash: openHashReader({ chainId, rpcUrls, timeoutMs: rpc.timeoutMs }),
    })),
    projections: projectionNames,
    now: () => new Date(),
    logger,
    lateSeconds: maxLagSeconds,
    maxAgeMs: 500,
  });
}
