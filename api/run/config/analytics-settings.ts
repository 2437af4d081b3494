import type { z } from "zod";
import { setting, urlOf, wholeNumber } from "./setting.ts";

/** The copy for analysts. */
export const analyticsSettings = {
  ANALYTICS_CLICKHOUSE_URL: setting(urlOf("http:", "https:").optional(), {
    meaning:
      "a database of ClickHouse that the jobs keep a copy of the facts and analytics views in, for this service alone; also what `op analytics sync` writes",
    expectation: "an http or https URL with the database as its path",
    example: "http://user:password@localhost:8123/analytics",
    fallback: "absent: no copy",
    secret: true,
  }),
  ANALYTICS_INTERVAL_SECONDS: setting(wholeNumber(1, 86_400).default(60), {
    meaning: "seconds between two syncs of the copy in ClickHouse",
    expectation: "seconds, 1 to 86400",
    example: "300",
  }),
  ANALYTICS_READ_URL: setting(urlOf("postgres:", "postgresql:").optional(), {
    meaning: "a read replica that the copy is read from, with the rights of the jobs",
    expectation: "a postgres:// URL",
    example: "postgres://jobs:password@replica:5432/orders",
    fallback: "absent: the database itself",
    secret: true,
  }),
};

export type AnalyticsConfig = {
  /** Of the copy; null: there is none. */
  clickhouseUrl: string | null;
  /** What is copied from; null: the database itself. */
  readUrl: string | null;
  intervalSeconds: number;
};

type AnalyticsEnvironment = z.output<z.ZodObject<typeof analyticsSettings>>;

export function shapeAnalytics(env: AnalyticsEnvironment): AnalyticsConfig {
  return {
    clickhouseUrl: env.ANALYTICS_CLICKHOUSE_URL ?? null,
    intervalSeconds: env.ANALYTICS_INTERVAL_SECONDS,
    readUrl: env.ANALYTICS_READ_URL ?? null,
  };
}
