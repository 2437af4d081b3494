import { join } from "node:path";
import type { Logger } from "pino";
import { openNftData } from "#api/account/mount.ts";
import { openAccounts } from "#api/accounts/open-accounts.ts";
import { createApp } from "#api/app.ts";
import { answerFeed } from "#api/feed/answer-feed.ts";
import { startFeeds } from "#api/feed/start-feed.ts";
import { openConcurrencyLimiter } from "#api/http/concurrency.ts";
import { openMetrics } from "#api/http/metrics.ts";
import {
  openPositionedReads,
  type PositionedReads,
  type WaitOutcome,
} from "#api/http/reads/positioned-reads.ts";
import { openReplicas, type ReplicaState } from "#api/http/reads/replicas.ts";
import { openResponseCache } from "#api/http/reads/response-cache.ts";
import { openTarget, type ReadSource } from "#api/http/reads/target.ts";
import { type Listening, listen } from "#api/http/server.ts";
import { openAccess } from "#api/keys/open-access.ts";
import { openMarket } from "#api/orders/open-market.ts";
import { openPictures } from "#api/pictures/open-pictures.ts";
import { listenForOperators } from "#api/status/operator-app.ts";
import { openWaitHistogram } from "#api/status/replica-gauges.ts";
import { maxLagSeconds, statusPollMs } from "#api/status/service-status.ts";
import { openStatusReader } from "#api/status/status-reader.ts";
import { openHashReader } from "#jobs/chain/client.ts";
import { openHeadReader } from "#jobs/chain/fetch-head.ts";
import { isLoopback } from "#ops/config/config.ts";
import { projectionNames } from "#projections/all.ts";
import {
  type Database,
  type DatabaseAddress,
  mostPrepared,
  openDatabase,
} from "#projections/log/database.ts";
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
  const { accounts, places, streams, ...accountParts } = openAccounts({
    ...{ config, logger },
    queryChain: market.queryChain,
  });
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
    chains,
  };
  const tokens = accountParts.bearerTokens;
  const { prefix, isPaused } = market;
  const parts = { db, prefix, isPaused, tokens, limiter, onUse: places.onUse };
  const accountApi = openNftData(config, parts);
  const nftData = accountApi && { ...accountApi, stream: answerFeed(feeds.account) };
  const now = () => new Date();
  const context = {
    ...{ db, siteUrl, chains, readStatus, market, instantKeys, ownKeys, now },
    webhooks: accounts,
    accounts,
  };
  const responseCache = openResponseCache({ now });
  const concurrency = openConcurrencyLimiter(config.access.concurrency);
  const { publicGateways } = config;
  const pictures = openPictures({
    directory: join(config.dataDir, "pictures"),
    ...{ ...config.pictures, ...config.metadata, logger },
  });
  const served = {
    publicGateways,
    pictures,
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
    securityContact: config.http.securityContact,
  });
  const closeParts = () =>
    Promise.all([
      ...[opened.close(), market.close(), access.close(), accountParts.close()],
      pictures.close(),
    ]);
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

export type OpenedReads = {
  /** The primary. */
  readonly db: Database;
  readonly reads: PositionedReads;
  replicaStates(): readonly ReplicaState[];
  close(): Promise<void>;
};

type Options = {
  readonly database: RoleConfig["database"];
  readonly logger: Logger;
  /** The highest position that this process has appended. */
  readonly written: () => bigint;
  readonly onWait: (ms: number, outcome: WaitOutcome) => void;
};

/** The databases that the API reads: the primary, and its replicas where there are. */
export function openReads({ database, logger, written, onWait }: Options): OpenedReads {
  const open = (address: DatabaseAddress, name?: string) =>
    openReaders({
      address,
      projections: projectionNames,
      logger,
      ...(name !== undefined && { name }),
    });
  const primary = open(database.requests);
  const opened = database.replicas.map(({ weight, ...address }) => {
    const readers = open(address, new URL(address.url).host);
    return { readers, weight, target: readers.target };
  });
  const replicas = openReplicas({
    primary: primary.target,
    replicas: opened,
    maxLagSeconds: database.maxReplicaLagSeconds,
    onChange({ name, isUsed, isReachable, lagSeconds }) {
      const fields = { replica: name, isReachable, lagSeconds };
      if (isUsed) logger.info(fields, "replica in use");
      else logger.warn(fields, "replica out of use");
    },
  });
  const reads = openPositionedReads({
    primary: primary.target,
    projections: projectionNames,
    choose: replicas.choose,
    onFailure(target, error) {
      replicas.leave(target);
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ replica: target.name, reason }, "replica failed a read");
    },
    written,
    onWait,
  });
  return {
    db: primary.db,
    reads,
    replicaStates: replicas.states,
    async close() {
      replicas.stop();
      await Promise.all(
        [primary, ...opened.map(({ readers }) => readers)].map((one) => one.close()),
      );
    },
  };
}

/** The connections that the API reads a database with, kept apart so that none of them waits for slower ones. */
type Readers = {
  readonly db: Database;
  /** Of long lists and pages. */
  readonly listDb: Database;
  readonly target: ReadSource;
  close(): Promise<void>;
};

type ReadersOptions = {
  readonly address: DatabaseAddress;
  readonly name?: string;
  /** Names of the serving projections. */
  readonly projections: readonly string[];
  readonly logger: Logger;
};

/** Connections at most. */
const most = { reads: 8, lists: 4 };
/** Milliseconds for a statement. A list that takes longer holds one of few connections. */
const timeoutsMs = { reads: 5_000, lists: 2_000 };

export function openReaders({ address, name, projections, logger }: ReadersOptions): Readers {
  const shared = {
    ...address,
    onIdleError: (error: Error) =>
      logger.warn({ err: error, database: name }, "database connection lost"),
  };
  const pool = (of: keyof typeof most, applicationName: string) =>
    openDatabase({
      ...shared,
      applicationName,
      max: most[of],
      statementTimeoutMs: timeoutsMs[of],
      prepares: mostPrepared,
    });
  const db = pool("reads", "api");
  const listDb = pool("lists", "api lists");
  const versionDb = openDatabase({
    ...shared,
    applicationName: "api data version",
    max: 1,
    statementTimeoutMs: timeoutsMs.reads,
    prepares: true,
  });
  return {
    db,
    listDb,
    target: openTarget({ ...(name !== undefined && { name }), db, listDb, versionDb }, projections),
    async close() {
      await Promise.all([db, listDb, versionDb].map((one) => one.destroy()));
    },
  };
}
