import { resolve } from "node:path";
import type { Address, Hex } from "viem";
import { type ChainId, chainIds } from "../../../abis/deployments.ts";
import type { CuratedCollection } from "../../../projections/facts/collection-registered.ts";
import type { PartnerConfigs } from "../../work/marketplaces/open-partners.ts";
import { type PriceFeed, publicFeeds } from "../../work/prices/feeds.ts";
import { readCurated } from "./curated.ts";
import { Environment } from "./environment.ts";
import { partnerSettingDependencies, shapePartners } from "./partner-settings.ts";
import { aboutSetting } from "./setting.ts";

export type ChainConfig = {
  chainId: ChainId;
  rpcUrls: string[];
  wsUrl: string | null;
  /** Null: each source from its own beginning. */
  startBlock: number | null;
  /** Blocks that one `eth_getLogs` asks for; null: found out by trying. */
  logsBlockRange: number | null;
  finalityBlocks: number;
  /** Every collection seen, or the curated ones and these. */
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
  /** No RPC is named: the supervisor starts local chains and names theirs to the roles. */
  localChains: boolean;
  devnet: { market: boolean };
  /** The chains served. `rpcUrls` is empty before the local chains have started. */
  chains: ChainConfig[];
  curated: { file: string; collections: CuratedCollection[] };
  /** `recipient` is null before the local chains have named theirs. */
  fees: { bps: number; recipient: Address | null };
  /** `enabled`: the parts of the market that are open until an operator says otherwise. */
  market: {
    prefix: string;
    conduitKey: Hex;
    enabled: { listings: boolean; offers: boolean; buying: boolean };
  };
  access: {
    /** Requests a minute; 0: as many as one likes. */
    limits: { keyless: number; instant: number; permanent: number; account: number };
    /** Whether instant keys are given out until an operator says otherwise. */
    instantKeys: boolean;
    /** How many proxies stand before the API, or their addresses and networks. */
    trustProxy: number | readonly string[];
  };
  /** Where mail is sent through, and its sender; null: it is written to the log. */
  mail: { url: string; from: string } | null;
  /** Between two looks at the chain for what events do not tell of orders. */
  checkIntervalSeconds: number;
  /** Other marketplaces whose listings are shown and bought; null: that one is off. */
  partners: PartnerConfigs & {
    /** Between two polls for a collection's new listings. */
    intervalSeconds: number;
  };
  /** Exchanges that are asked what coins are worth. */
  prices: { feeds: readonly PriceFeed[] };
  /** Where documents are asked for that have no address of their own. */
  metadata: { ipfsGateways: readonly string[]; arweaveGateway: string };
  log: { level: "trace" | "debug" | "info" | "warn" | "error"; format: "pretty" | "json" };
};

/** Exit code of a configuration that cannot be used (sysexits' EX_CONFIG). A restart does not cure it. */
export const configurationExitCode = 78;

const defaultCuratedFile = resolve(import.meta.dirname, "../../../abis/curated-collections.json");

/** The process's environment and what `.env` adds to it. */
export function readEnvironment(): Record<string, string | undefined> {
  try {
    process.loadEnvFile();
  } catch {
    // There is no .env: the environment alone configures.
  }
  return { ...process.env };
}

/** Everything wrong with a configuration, one line per setting, in the words an operator reads. */
export class ConfigurationError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${problems.map((line) => `  ${line}`).join("\n")}`);
    this.name = "ConfigurationError";
    this.problems = problems;
  }
}

/** Checks the whole environment and shapes it by topic. Throws every problem at once, secrets unprinted. */
export function readConfig(variables: Record<string, string | undefined>): Config {
  const named = withoutBlanks(variables);
  const parsed = Environment.safeParse(named);
  const problems = unknownChains(named);
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
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    const trimmed = value?.trim();
    if (trimmed) kept[name] = trimmed;
  }
  return kept;
}

function unknownChains(named: Record<string, string>): string[] {
  return Object.keys(named)
    .filter((name) =>
      /^(RPC_URL|WS_URL|START_BLOCK|LOGS_BLOCK_RANGE|COLLECTIONS|FINALITY|WRAPPED_NATIVE_EVENTS)_\d+$/.test(
        name,
      ),
    )
    .filter((name) => !Object.hasOwn(Environment.shape, name))
    .map((name) => `${name}: no such chain; the chains are ${chainIds.join(" and ")}`);
}

function badValue(name: string, value: string | undefined): string {
  const { expectation, example, secret } = about(name);
  const got = secret || value === undefined ? "" : `, got ${JSON.stringify(value)}`;
  return `${name}: expected ${expectation}${got}. Example: ${name}=${example}`;
}

function missingCompanions(named: Record<string, string>): string[] {
  const problems: string[] = [];
  const demand = (name: string, companion: string) => {
    if (named[name] || !named[companion]) return;
    const { expectation, example } = about(name);
    problems.push(
      `${name}: expected ${expectation}, since ${companion} is set. Example: ${name}=${example}`,
    );
  };
  for (const chainId of chainIds) demand(`RPC_URL_${chainId}`, `WS_URL_${chainId}`);
  demand(
    "FEE_RECIPIENT",
    chainIds.map((chainId) => `RPC_URL_${chainId}`).find((name) => named[name]) ?? "",
  );
  demand("DATABASE_URL", "DATABASE_READ_URL");
  for (const [name, companion] of partnerSettingDependencies) demand(name, companion);
  demand("MAIL_FROM", "SMTP_URL");
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

/** A listener on every address is reached by name. */
const publicHost = (host: string): string =>
  ["0.0.0.0", "[::]"].includes(host) ? "localhost" : host;
const withoutSlash = (url: string): string => url.replace(/\/+$/, "");
