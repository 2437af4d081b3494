import { z } from "zod";
import type { ChainId } from "../../../chains/index.ts";
import { setting, urlOf, wholeNumber } from "./setting.ts";

/** Where a chain that has a database of its own is copied to, if not with the others. */
const ofChain = (chain: string) => ({
  clickhouseUrl: setting(urlOf("http:", "https:").optional(), {
    meaning: `ANALYTICS_CLICKHOUSE_URL of ${chain}'s own database, where its copy is to be apart from the others`,
    expectation: "an http or https URL with the database as its path",
    example: "http://user:password@localhost:8123/analytics_of_one_chain",
    fallback: "ANALYTICS_CLICKHOUSE_URL",
    secret: true,
  }),
  duckdbFile: setting(z.string().min(1).optional(), {
    meaning: `ANALYTICS_DUCKDB_FILE of ${chain}'s own database, where its copy is to be apart from the others`,
    expectation: "a file; its directory is made",
    example: "/var/lib/orders/analytics-of-one-chain.duckdb",
    fallback: "ANALYTICS_DUCKDB_FILE",
  }),
  readUrl: setting(urlOf("postgres:", "postgresql:").optional(), {
    meaning: `ANALYTICS_READ_URL of ${chain}'s own database`,
    expectation: "a postgres:// URL",
    example: "postgres://jobs:password@replica:5432/orders_of_one_chain",
    fallback: "absent: the database itself",
    secret: true,
  }),
});
const [ethereum, apechain] = [ofChain("Ethereum"), ofChain("ApeChain")];

/** Analytics engines that the jobs copy facts and rows to. */
export const analyticsSettings = {
  ANALYTICS_CLICKHOUSE_URL: setting(urlOf("http:", "https:").optional(), {
    meaning:
      "a database of ClickHouse that the jobs keep a copy of the facts and analytics views in, for this service alone; also what `op analytics sync --to clickhouse` writes",
    expectation: "an http or https URL with the database as its path",
    example: "http://user:password@localhost:8123/analytics",
    fallback: "absent: no copy",
    secret: true,
  }),
  ANALYTICS_DUCKDB_FILE: setting(z.string().min(1).optional(), {
    meaning:
      "a file of DuckDB that the jobs keep such a copy in; also what `op analytics sync --to duckdb` writes",
    expectation: "a file; its directory is made",
    example: "/var/lib/orders/analytics.duckdb",
    fallback: "absent: no copy",
  }),
  ANALYTICS_CLICKHOUSE_URL_1: ethereum.clickhouseUrl,
  ANALYTICS_CLICKHOUSE_URL_33139: apechain.clickhouseUrl,
  ANALYTICS_DUCKDB_FILE_1: ethereum.duckdbFile,
  ANALYTICS_DUCKDB_FILE_33139: apechain.duckdbFile,
  ANALYTICS_INTERVAL_SECONDS: setting(wholeNumber(1, 86_400).default(60), {
    meaning: "seconds between two syncs of an analytics engine",
    expectation: "seconds, 1 to 86400",
    example: "300",
  }),
  ANALYTICS_READ_URL: setting(urlOf("postgres:", "postgresql:").optional(), {
    meaning: "a read replica that the copies are read from, with the rights of the jobs",
    expectation: "a postgres:// URL",
    example: "postgres://jobs:password@replica:5432/orders",
    fallback: "absent: the database itself",
    secret: true,
  }),
  ANALYTICS_READ_URL_1: ethereum.readUrl,
  ANALYTICS_READ_URL_33139: apechain.readUrl,
};

/** Where one log is copied to. */
export type AnalyticsPlaces = {
  /** Engines that are kept up to date; null: not this one. */
  clickhouseUrl: string | null;
  duckdbFile: string | null;
  /** What is copied from; null: the database itself. */
  readUrl: string | null;
};

export type AnalyticsConfig = AnalyticsPlaces & { intervalSeconds: number };

type AnalyticsEnvironment = z.output<z.ZodObject<typeof analyticsSettings>>;

export function shapeAnalytics(env: AnalyticsEnvironment): AnalyticsConfig {
  return {
    clickhouseUrl: env.ANALYTICS_CLICKHOUSE_URL ?? null,
    duckdbFile: env.ANALYTICS_DUCKDB_FILE ?? null,
    intervalSeconds: env.ANALYTICS_INTERVAL_SECONDS,
    readUrl: env.ANALYTICS_READ_URL ?? null,
  };
}

/** Of the database of one chain. */
export function shapeChainAnalytics(env: AnalyticsEnvironment, chainId: ChainId): AnalyticsPlaces {
  return {
    clickhouseUrl: env[`ANALYTICS_CLICKHOUSE_URL_${chainId}`] ?? null,
    duckdbFile: env[`ANALYTICS_DUCKDB_FILE_${chainId}`] ?? null,
    readUrl: env[`ANALYTICS_READ_URL_${chainId}`] ?? null,
  };
}
