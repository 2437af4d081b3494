import { z } from "zod";
import { setting, urlOf, wholeNumber } from "./setting.ts";

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
};

export type AnalyticsConfig = {
  /** Engines that are kept up to date; null: not this one. */
  clickhouseUrl: string | null;
  duckdbFile: string | null;
  /** What is copied from; null: the database itself. */
  readUrl: string | null;
  intervalSeconds: number;
};

type AnalyticsEnvironment = z.output<z.ZodObject<typeof analyticsSettings>>;

export function shapeAnalytics(env: AnalyticsEnvironment): AnalyticsConfig {
  return {
    clickhouseUrl: env.ANALYTICS_CLICKHOUSE_URL ?? null,
    duckdbFile: env.ANALYTICS_DUCKDB_FILE ?? null,
    intervalSeconds: env.ANALYTICS_INTERVAL_SECONDS,
    readUrl: env.ANALYTICS_READ_URL ?? null,
  };
}
