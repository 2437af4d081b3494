import { resolve } from "node:path";
import type { Address } from "viem";
import { type ChainId, chainById, chainIds } from "#chains/index.ts";
import type { PartnerConfigs } from "#jobs/partners/open-partners.ts";
import { type PriceFeed, publicFeeds } from "#jobs/prices/exchanges.ts";
import type { CuratedCollection } from "#projections/collections/facts.ts";
import type { OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import type { FeeLimits } from "#projections/domain/royalty.ts";
import { type AnalyticsConfig, type ReplicaAddress, shapeAnalytics } from "./database-settings.ts";
import type { Environment } from "./environment.ts";
import { shapePartners } from "./partner-settings.ts";

export type Config = {
  http: {
    host: string;
    port: number;
    /** On loopback; null: metrics are served on `port`. */
    metricsHost: string;
    metricsPort: number | null;
    baseUrl: string;
    siteUrl: string;
    /** Where weaknesses are reported to; null: nobody said. */
    securityContact: string | null;
    /** First part of the account API's paths. */
    accountApiPath: string;
  };
  /** The operator's console. `port` is null where none is set; `password` is set where `host` is not loopback. */
  console: { isOn: boolean; host: string; port: number | null; password: string | null };
  database: DatabaseConfig;
  dataDir: string;
  /** No RPC is set: the supervisor starts local chains and passes their URLs to the roles. */
  localChains: boolean;
  devnet: { market: boolean };
  /** The configured chains. `rpcUrls` is empty until the local chains have started. */
  chains: ChainConfig[];
  curated: { file: string; collections: CuratedCollection[] };
  /** Whether sources that are added together have one indexer. */
  indexerProcesses: "shared" | "separate";
  /** `recipient` is null until the local chains have started. */
  fees: { bps: number; recipient: Address | null };
  /** `enabled`: initial state of the switches that `op pause` and `op resume` change. */
  market: {
    prefix: string;
    enabled: { listings: boolean; offers: boolean; buying: boolean };
    quotas: OrderQuotas;
  };
  access: {
    /** Requests per minute; 0: unlimited. */
    limits: { keyless: number; instant: number; permanent: number; account: number };
    /** Requests at a time in one process. */
    concurrency: { total: number; perCaller: number };
    /** Open streams of an account, and of an address without one, in one process. */
    streams: { account: number; address: number };
    /** Minutes for which a password or code counts for what needs one. */
    reauthenticationMinutes: number;
    /** Whether instant keys are issued; initial state of a switch. */
    instantKeys: boolean;
    /** The number of proxies in front of the API, or their addresses and networks. */
    trustProxy: number | readonly string[];
  };
  /** SMTP server and sender; null: mail is written to the log. */
  mail: { url: string; from: string } | null;
  /** Origins to which webhooks may be sent although they are not public. */
  webhooks: { allowedOrigins: readonly string[] };
  /** Seconds between two checks of open orders on the chain. */
  checkIntervalSeconds: number;
  /** Changes of a contract's answer that are followed within an hour. */
  contractChangesPerHour: number;
  /** Other marketplaces whose listings are shown and bought; null: that one is off. */
  partners: PartnerConfigs & {
    /** Between two polls for a collection's new listings. */
    intervalSeconds: number;
    /** Beyond them a partner's creator fees wait for an operator. */
    feeLimits: FeeLimits;
  };
  /** Exchanges for coin prices. */
  prices: { feeds: readonly PriceFeed[] };
  /** Gateways for documents without an HTTP URL. */
  metadata: { ipfsGateways: readonly string[]; arweaveGateway: string };
  /** Pictures for the pages, kept on the disk. */
  pictures: { maxBytes: number };
  /** Gateways that links in responses point to. */
  publicGateways: { ipfsGateway: string; arweaveGateway: string };
  analytics: AnalyticsConfig;
  log: { level: "trace" | "debug" | "info" | "warn" | "error"; format: "pretty" | "json" };
};

/** The settings by topic. */
export function shapeConfig(env: Environment, curated: Config["curated"]): Config {
  const host = env.HOST.includes(":") ? `[${env.HOST}]` : env.HOST;
  const baseUrl = withoutSlash(env.BASE_URL ?? `http://${publicHost(host)}:${env.PORT}`);
  const localChains = chainIds.every((chainId) => env[`RPC_URL_${chainId}`] === undefined);
  return {
    http: {
      host: env.HOST,
      port: env.PORT,
      metricsHost: env.METRICS_HOST,
      metricsPort: env.METRICS_PORT ?? env.OPERATOR_PORT ?? null,
      baseUrl,
      siteUrl: withoutSlash(env.SITE_URL ?? baseUrl),
      securityContact: env.SECURITY_CONTACT ?? null,
      accountApiPath: env.ACCOUNT_API_PATH,
    },
    console: {
      isOn: env.OPERATOR_CONSOLE,
      host: env.OPERATOR_HOST,
      port: env.OPERATOR_PORT ?? null,
      password: env.OPERATOR_PASSWORD ?? null,
    },
    database: shapeDatabase(env),
    dataDir: resolve(env.DATA_DIR),
    localChains,
    devnet: { market: env.DEVNET_MARKET },
    chains: servedChainIds(env, localChains).map((chainId) =>
      shapeChain(env, chainId, localChains),
    ),
    curated,
    indexerProcesses: env.INDEXER_PROCESSES,
    fees: { bps: env.FEE_BPS, recipient: env.FEE_RECIPIENT ?? null },
    market: {
      prefix: env.MARKET_PREFIX,
      enabled: {
        listings: env.LISTINGS_ENABLED,
        offers: env.OFFERS_ENABLED,
        buying: env.BUYING_ENABLED,
      },
      quotas: {
        maker: env.ORDER_QUOTA_MAKER,
        contract: env.ORDER_QUOTA_CONTRACT,
        untradedPerDay: env.ORDER_BUDGET_UNTRADED,
        newcomersPerDay: env.ORDER_BUDGET_NEWCOMERS,
        bidExposure: env.OFFER_EXPOSURE,
      },
    },
    access: {
      limits: {
        keyless: env.RATE_LIMIT_KEYLESS,
        instant: env.RATE_LIMIT_INSTANT,
        permanent: env.RATE_LIMIT_KEY,
        account: env.RATE_LIMIT_ACCOUNT,
      },
      concurrency: { total: env.CONCURRENCY_LIMIT, perCaller: env.CONCURRENCY_LIMIT_CALLER },
      streams: { account: env.STREAM_LIMIT_ACCOUNT, address: env.STREAM_LIMIT_ADDRESS },
      reauthenticationMinutes: env.REAUTHENTICATION_MINUTES,
      instantKeys: env.INSTANT_KEYS_ENABLED,
      trustProxy: env.TRUST_PROXY,
    },
    mail: shapeMail(env),
    webhooks: { allowedOrigins: env.WEBHOOK_ALLOWED_ORIGINS.map((url) => new URL(url).origin) },
    checkIntervalSeconds: env.CHECK_INTERVAL_SECONDS,
    contractChangesPerHour: env.CONTRACT_CHANGES_PER_HOUR,
    partners: {
      ...shapePartners(env),
      intervalSeconds: env.PARTNER_INTERVAL_SECONDS,
      feeLimits: {
        maxBps: env.PARTNER_ROYALTY_MAX_BPS,
        maxChangeBps: env.PARTNER_ROYALTY_CHANGE_BPS,
      },
    },
    prices: { feeds: env.PRICE_FEED_URLS ?? publicFeeds },
    metadata: { ipfsGateways: env.IPFS_GATEWAYS, arweaveGateway: env.ARWEAVE_GATEWAY },
    pictures: { maxBytes: env.PICTURE_CACHE_MB * 1_000_000 },
    publicGateways: {
      ipfsGateway: withoutSlash(env.PUBLIC_IPFS_GATEWAY).replace(/\/ipfs$/, ""),
      arweaveGateway: withoutSlash(env.PUBLIC_ARWEAVE_GATEWAY),
    },
    analytics: shapeAnalytics(env),
    log: {
      level: env.LOG_LEVEL,
      format: env.LOG_FORMAT ?? (process.stdout.isTTY ? "pretty" : "json"),
    },
  };
}

function shapeMail({ SMTP_URL: url, MAIL_FROM: from }: Environment): Config["mail"] {
  return url === undefined || from === undefined ? null : { url, from };
}

/** A server that listens on all addresses is reached as localhost. */
const publicHost = (host: string): string =>
  ["0.0.0.0", "[::]"].includes(host) ? "localhost" : host;
const withoutSlash = (url: string): string => url.replace(/\/+$/, "");

export type ChainConfig = {
  chainId: ChainId;
  rpcUrls: string[];
  wsUrl: string | null;
  /** Null: each source from its own first block. */
  startBlock: number | null;
  /** Block range of one `eth_getLogs`; null: adapted to what the RPC accepts. */
  logsBlockRange: number | null;
  finalityBlocks: number;
  /** Every collection, or the curated ones and these. */
  collections: "all" | Address[];
  /** Whether deposits, withdrawals and transfers of the wrapped native currency are indexed. */
  wrappedNativeEvents: "all" | "none";
};

function shapeChain(env: Environment, chainId: ChainId, local: boolean): ChainConfig {
  const collections = env[`COLLECTIONS_${chainId}`];
  const wrappedByDefault = local ? "all" : chainById(chainId).indexed.wrappedNativeEvents;
  return {
    chainId,
    rpcUrls: env[`RPC_URL_${chainId}`] ?? [],
    wsUrl: env[`WS_URL_${chainId}`] ?? null,
    startBlock: env[`START_BLOCK_${chainId}`] ?? (local ? 0 : null),
    logsBlockRange: env[`LOGS_BLOCK_RANGE_${chainId}`] ?? null,
    finalityBlocks: env[`FINALITY_${chainId}`],
    collections: collections === "*" ? "all" : collections,
    wrappedNativeEvents: env[`WRAPPED_NATIVE_EVENTS_${chainId}`] ?? wrappedByDefault,
  };
}

/** `url` is null where PostgreSQL is embedded, others where they are not set. */
type DatabaseConfig = {
  /** Of the owner. */
  url: string | null;
  /** Of the pooler that the API's requests go through. */
  poolerUrl: string | null;
  /** Read replicas of the API. */
  replicas: readonly ReplicaAddress[];
  /** One further behind is not read from. */
  maxReplicaLagSeconds: number;
  /** Whether standbys may follow the embedded server. */
  replicates: boolean;
  /** Of the embedded one; null: the one that `DATA_DIR` keeps. */
  port: number | null;
  /** Of an administrator. */
  adminUrl: string | null;
  /** Of processes that have users of their own. */
  processUrls: Record<"indexer" | "projector" | "jobs" | "api" | "console", string | null>;
};

/** The chains that are configured: local ones are all there are. */
const servedChainIds = (env: Environment, localChains: boolean): ChainId[] =>
  chainIds.filter((chainId) => localChains || env[`RPC_URL_${chainId}`] !== undefined);

function shapeDatabase(env: Environment): DatabaseConfig {
  return {
    url: env.DATABASE_URL ?? null,
    poolerUrl: env.DATABASE_POOLER_URL ?? null,
    replicas:
      env.DATABASE_READ_URL === undefined
        ? env.DATABASE_READ_URLS
        : [{ url: env.DATABASE_READ_URL, weight: 1, isPooled: false }],
    replicates: env.DATABASE_REPLICATION,
    port: env.DATABASE_PORT ?? null,
    maxReplicaLagSeconds: env.DATABASE_READ_MAX_LAG_SECONDS,
    adminUrl: env.DATABASE_URL_ADMIN ?? null,
    processUrls: {
      indexer: env.DATABASE_URL_INDEXER ?? null,
      projector: env.DATABASE_URL_PROJECTOR ?? null,
      jobs: env.DATABASE_URL_JOBS ?? null,
      api: env.DATABASE_URL_API ?? null,
      console: env.DATABASE_URL_CONSOLE ?? null,
    },
  };
}

/** Address of the API for processes on this machine; `BASE_URL` may lead through a proxy. */
export function listeningUrl({ host, port }: Pick<Config["http"], "host" | "port">): string {
  const name = ["0.0.0.0", "::"].includes(host) ? "localhost" : host;
  const authority = name.includes(":") ? `[${name}]` : name;
  return `http://${authority}:${port}`;
}

/** Whether a host, as it is written in settings or URLs, is this machine alone. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
