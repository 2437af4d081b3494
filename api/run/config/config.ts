import { resolve } from "node:path";
import type { Address, Hex } from "viem";
import { type ChainId, chainIds } from "../../../abis/deployments.ts";
import type { CuratedCollection } from "../../../projections/facts/collection-registered.ts";
import type { PartnerConfigs } from "../../background/marketplaces/open-partners.ts";
import { type PriceFeed, publicFeeds } from "../../background/prices/feeds.ts";
import { readCurated } from "./curated.ts";
import { Environment } from "./environment.ts";
import { partnerSettingDependencies, shapePartners } from "./partner-settings.ts";
import { aboutSetting } from "./setting.ts";

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

export type Config = {
  http: {
    host: string;
    port: number;
    baseUrl: string;
    siteUrl: string;
    /** First part of the account API's paths. */
    accountApiPath: string;
  };
  /** `url` is null where PostgreSQL is embedded. */
  database: { url: string | null; readUrl: string | null };
  dataDir: string;
  /** No RPC is set: the supervisor starts local chains and passes their URLs to the roles. */
  localChains: boolean;
  devnet: { market: boolean };
  /** The configured chains. `rpcUrls` is empty until the local chains have started. */
  chains: ChainConfig[];
  curated: { file: string; collections: CuratedCollection[] };
  /** `recipient` is null until the local chains have started. */
  fees: { bps: number; recipient: Address | null };
  /** `enabled`: initial state of the switches that `op pause` and `op resume` change. */
  market: {
    prefix: string;
    conduitKey: Hex;
    enabled: { listings: boolean; offers: boolean; buying: boolean };
  };
  access: {
    /** Requests per minute; 0: unlimited. */
    limits: { keyless: number; instant: number; permanent: number; account: number };
    /** Whether instant keys are issued; initial state of a switch. */
    instantKeys: boolean;
    /** The number of proxies in front of the API, or their addresses and networks. */
    trustProxy: number | readonly string[];
  };
  /** SMTP server and sender; null: mail is written to the log. */
  mail: { url: string; from: string } | null;
  /** Seconds between two checks of open orders on the chain. */
  checkIntervalSeconds: number;
  /** Other marketplaces whose listings are shown and bought; null: that one is off. */
  partners: PartnerConfigs & {
    /** Between two polls for a collection's new listings. */
    intervalSeconds: number;
  };
  /** Exchanges for coin prices. */
  prices: { feeds: readonly PriceFeed[] };
  /** Gateways for documents without an HTTP URL. */
  metadata: { ipfsGateways: readonly string[]; arweaveGateway: string };
  log: { level: "trace" | "debug" | "info" | "warn" | "error"; format: "pretty" | "json" };
};

/** Exit code of a configuration error (EX_CONFIG of sysexits.h). A restart does not help. */
export const configurationExitCode = 78;

const defaultCuratedFile = resolve(import.meta.dirname, "../../../abis/curated-collections.json");

/** The environment of the process, completed from `.env`. */
export function readEnvironment(): Record<string, string | undefined> {
  try {
    process.loadEnvFile();
  } catch {
    // There is no .env.
  }
  return { ...process.env };
}

/** All problems of a configuration, one line per setting, as text for operators. */
export class ConfigurationError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${problems.map((line) => `  ${line}`).join("\n")}`);
    this.name = "ConfigurationError";
    this.problems = problems;
  }
}

/** Validates the whole environment and groups it by topic. Throws all problems at once, with secrets masked. */
export function readConfig(variables: Record<string, string | undefined>): Config {
  const named = withoutBlanks(variables);
  const parsed = Environment.safeParse(named);
  const problems = settingsOfUnknownChains(named);
  if (!parsed.success) {
    const names = new Set(parsed.error.issues.map((issue) => String(issue.path[0])));
    problems.push(...[...names].map((name) => badValue(name, named[name])));
  }
  problems.push(...missingCompanions(named));
  const curatedFile = resolve(named.CURATED_FILE ?? defaultCuratedFile);
  const curated = readCurated(curatedFile);
  if ("fault" in curated)
    problems.push(`${badValue("CURATED_FILE", named.CURATED_FILE)} (${curated.fault})`);
  if (!parsed.success || "fault" in curated || problems.length > 0) {
    throw new ConfigurationError(problems);
  }
  return shape(parsed.data, { file: curatedFile, collections: curated.collections });
}

function withoutBlanks(variables: Record<string, string | undefined>): Record<string, string> {
  const named: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    const trimmed = value?.trim();
    if (trimmed) named[name] = trimmed;
  }
  return named;
}

function settingsOfUnknownChains(named: Record<string, string>): string[] {
  return Object.keys(named)
    .filter((name) =>
      /^(RPC_URL|WS_URL|START_BLOCK|LOGS_BLOCK_RANGE|COLLECTIONS|FINALITY|WRAPPED_NATIVE_EVENTS)_\d+$/.test(
        name,
      ),
    )
    .filter((name) => !Object.hasOwn(Environment.shape, name))
    .map((name) => `${name}: unknown chain; known chains are ${chainIds.join(" and ")}`);
}

function badValue(name: string, value: string | undefined): string {
  const { expectation, example, secret } = about(name);
  const got = secret || value === undefined ? "" : `, got ${JSON.stringify(value)}`;
  return `${name}: expected ${expectation}${got}. Example: ${name}=${example}`;
}

function missingCompanions(named: Record<string, string>): string[] {
  const problems: string[] = [];
  const requireWith = (name: string, companion: string) => {
    if (named[name] || !named[companion]) return;
    const { expectation, example } = about(name);
    problems.push(
      `${name}: expected ${expectation}, since ${companion} is set. Example: ${name}=${example}`,
    );
  };
  for (const chainId of chainIds) requireWith(`RPC_URL_${chainId}`, `WS_URL_${chainId}`);
  requireWith(
    "FEE_RECIPIENT",
    chainIds.map((chainId) => `RPC_URL_${chainId}`).find((name) => named[name]) ?? "",
  );
  requireWith("DATABASE_URL", "DATABASE_READ_URL");
  for (const [name, companion] of partnerSettingDependencies) requireWith(name, companion);
  requireWith("MAIL_FROM", "SMTP_URL");
  return problems;
}

function about(name: string) {
  return aboutSetting(name, Environment.shape[name as keyof Environment]);
}

function shape(env: Environment, curated: Config["curated"]): Config {
  const host = env.HOST.includes(":") ? `[${env.HOST}]` : env.HOST;
  const baseUrl = withoutSlash(env.BASE_URL ?? `http://${publicHost(host)}:${env.PORT}`);
  const localChains = chainIds.every((chainId) => env[`RPC_URL_${chainId}`] === undefined);
  return {
    http: {
      host: env.HOST,
      port: env.PORT,
      baseUrl,
      siteUrl: withoutSlash(env.SITE_URL ?? baseUrl),
      accountApiPath: env.ACCOUNT_API_PATH,
    },
    database: {
      url: env.DATABASE_URL ?? null,
      readUrl: env.DATABASE_READ_URL ?? env.DATABASE_URL ?? null,
    },
    dataDir: resolve(env.DATA_DIR),
    localChains,
    devnet: { market: env.DEVNET_MARKET },
    chains: chainIds
      .filter((chainId) => localChains || env[`RPC_URL_${chainId}`] !== undefined)
      .map((chainId) => shapeChain(env, chainId, localChains)),
    curated,
    fees: { bps: env.FEE_BPS, recipient: env.FEE_RECIPIENT ?? null },
    market: {
      prefix: env.MARKET_PREFIX,
      conduitKey: env.CONDUIT_KEY,
      enabled: {
        listings: env.LISTINGS_ENABLED,
        offers: env.OFFERS_ENABLED,
        buying: env.BUYING_ENABLED,
      },
    },
    access: {
      limits: {
        keyless: env.RATE_LIMIT_KEYLESS,
        instant: env.RATE_LIMIT_INSTANT,
        permanent: env.RATE_LIMIT_KEY,
        account: env.RATE_LIMIT_ACCOUNT,
      },
      instantKeys: env.INSTANT_KEYS_ENABLED,
      trustProxy: env.TRUST_PROXY,
    },
    mail: shapeMail(env),
    checkIntervalSeconds: env.CHECK_INTERVAL_SECONDS,
    partners: {
      ...shapePartners(env),
      intervalSeconds: env.PARTNER_INTERVAL_SECONDS,
    },
    prices: { feeds: env.PRICE_FEED_URLS ?? publicFeeds },
    metadata: { ipfsGateways: env.IPFS_GATEWAYS, arweaveGateway: env.ARWEAVE_GATEWAY },
    log: {
      level: env.LOG_LEVEL,
      format: env.LOG_FORMAT ?? (process.stdout.isTTY ? "pretty" : "json"),
    },
  };
}

function shapeMail({ SMTP_URL: url, MAIL_FROM: from }: Environment): Config["mail"] {
  return url === undefined || from === undefined ? null : { url, from };
}

function shapeChain(env: Environment, chainId: ChainId, local: boolean): ChainConfig {
  const collections = env[`COLLECTIONS_${chainId}`];
  const quiet = chainId === 1 && !local;
  return {
    chainId,
    rpcUrls: env[`RPC_URL_${chainId}`] ?? [],
    wsUrl: env[`WS_URL_${chainId}`] ?? null,
    startBlock: env[`START_BLOCK_${chainId}`] ?? (local ? 0 : null),
    logsBlockRange: env[`LOGS_BLOCK_RANGE_${chainId}`] ?? null,
    finalityBlocks: env[`FINALITY_${chainId}`],
    collections: collections === "*" ? "all" : collections,
    wrappedNativeEvents: env[`WRAPPED_NATIVE_EVENTS_${chainId}`] ?? (quiet ? "none" : "all"),
  };
}

/** A server that listens on all addresses is reached as localhost. */
const publicHost = (host: string): string =>
  ["0.0.0.0", "[::]"].includes(host) ? "localhost" : host;
const withoutSlash = (url: string): string => url.replace(/\/+$/, "");
