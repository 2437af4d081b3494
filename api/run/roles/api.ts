import type { RequestHandler } from "express";
import { mainCell } from "../../../projections/log/cells/main-cell.ts";
import { openAccounts } from "../../serve/accounts/open-accounts.ts";
import { createApp } from "../../serve/app.ts";
import { answerFeed } from "../../serve/feed/answer-feed.ts";
import { accountChainId, type FeedOf } from "../../serve/feed/start-feed.ts";
import { openConcurrencyLimiter } from "../../serve/http/concurrency/concurrency-limiter.ts";
import { openMetrics } from "../../serve/http/metrics.ts";
import { openResponseCache } from "../../serve/http/response-cache.ts";
import { type Listening, listen } from "../../serve/http/server.ts";
import { openAccess } from "../../serve/keys/open-access.ts";
import { openNftData } from "../../serve/nft-data/open.ts";
import { statusPollMs } from "../../serve/status/limits.ts";
import { listenForOperators } from "../../serve/status/listen-for-operators.ts";
import { openWaitHistogram } from "../../serve/status/replica-gauges.ts";
import { isLoopback } from "../config/is-loopback.ts";
import { type ApiCells, openApiCells } from "./api-cells.ts";
import type { RoleContext, RunningRole } from "./role.ts";

/** Serves HTTP requests of all chains. Any number of these processes may run. */
export async function runRole({
  config,
  cells,
  logger,
  signal,
}: RoleContext): Promise<RunningRole> {
  const waits = openWaitHistogram();
  const opened = await openApiCells({
    cells: cells ?? [{ name: mainCell, config }],
    logger,
    signal,
    onWait: waits.count,
  });
  const { main, readStatus } = opened;
  const { db, reads } = main.opened;
  const { market } = main;
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
  const nftData = accountApi && { ...accountApi, stream: streamOfAccounts(opened) };
  const now = () => new Date();
  const context = { db, siteUrl, chains, readStatus, market, instantKeys, ownKeys, now };
  const responseCache = openResponseCache({ now });
  const concurrency = openConcurrencyLimiter(config.access.concurrency);
  const { publicGateways } = config;
  const served = {
    publicGateways,
    developers,
    nftData,
    feed: { figures: opened.figuresOfFeeds },
    feedOf: ((chainId, delivery) => opened.feedsOf(chainId).feedOf(chainId, delivery)) as FeedOf,
    cells: opened.cells,
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
  const closeParts = () => Promise.all([opened.close(), access.close(), accountParts.close()]);
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
      await opened.stopFeeds();
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
      await opened.stopFeeds();
      await listening.close();
      await closeParts();
    },
  };
}

/** Of the database that serves the chain of the account API at the time of the request. */
const streamOfAccounts =
  ({ feedsOf }: ApiCells): RequestHandler =>
  (request, response, next) =>
    answerFeed(feedsOf(accountChainId).account)(request, response, next);
