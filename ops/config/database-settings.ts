import { z } from "zod";
import type { DatabaseAddress } from "#projections/log/database.ts";
import { setting, urlOf, wholeNumber } from "./setting.ts";

/** A schema for each setting: it carries the setting's description. */
const postgresUrl = () => urlOf("postgres:", "postgresql:").optional();

const userOf = (process: string) =>
  setting(postgresUrl(), {
    meaning: `address of the same database for the \`${process}\` process, with a database user that only it uses; \`op roles grant\` gives that user its rights`,
    expectation: "a postgres:// URL, together with DATABASE_URL",
    example: `postgres://${process}:password@localhost:5432/orders`,
    fallback: "DATABASE_URL; embedded: a user of its own",
    secret: true,
  });

export type ReplicaAddress = DatabaseAddress & { readonly weight: number };

/** The parameters are ours: the driver must not see them. */
function replicaOf(text: string): ReplicaAddress | undefined {
  if (!urlOf("postgres:", "postgresql:").safeParse(text).success) return undefined;
  const url = new URL(text);
  const weight = Number(url.searchParams.get("weight") ?? 1);
  const pooler = url.searchParams.get("pooler") ?? "false";
  url.searchParams.delete("weight");
  url.searchParams.delete("pooler");
  return Number.isInteger(weight) && weight >= 1 && weight <= 100 && /^(true|false)$/.test(pooler)
    ? { url: url.href, weight, isPooled: pooler === "true" }
    : undefined;
}

const replicaList = z.string().transform((text, context): ReplicaAddress[] =>
  text.split(",").flatMap((part) => {
    const replica = part.trim() === "" ? [] : replicaOf(part.trim());
    if (replica === undefined) context.addIssue({ code: "custom", message: "no replica" });
    return replica ?? [];
  }),
);

/** The database, its replicas, and as which users the processes use it. */
export const databaseSettings = {
  DATABASE_URL: setting(postgresUrl(), {
    meaning:
      "database on a PostgreSQL server, version 18; its user owns the tables and migrates them",
    expectation: "a postgres:// URL",
    example: "postgres://user:password@localhost:5432/orders",
    fallback: "absent: embedded PostgreSQL in DATA_DIR",
    secret: true,
  }),
  DATABASE_URL_INDEXER: userOf("indexer"),
  DATABASE_URL_PROJECTOR: userOf("projector"),
  DATABASE_URL_JOBS: userOf("jobs"),
  DATABASE_URL_API: userOf("api"),
  DATABASE_URL_CONSOLE: userOf("console"),
  DATABASE_URL_ADMIN: setting(postgresUrl(), {
    meaning:
      "the same database as a user who may administer roles, for `op roles grant` and `op analysts`",
    expectation: "a postgres:// URL, together with DATABASE_URL",
    example: "postgres://postgres:password@localhost:5432/orders",
    fallback: "DATABASE_URL; embedded: its superuser",
    secret: true,
  }),
  DATABASE_POOLER_URL: setting(postgresUrl(), {
    meaning:
      "a pooler (PgBouncer) in front of the same database, which the API's requests go through, in any pool mode; what needs a session of its own (migrations, leases, notifications, projections) goes to the database",
    expectation: "a postgres:// URL, together with DATABASE_URL",
    example: "postgres://api:password@localhost:6432/orders",
    fallback: "absent: requests go to the database",
    secret: true,
  }),
  DATABASE_READ_URL: setting(postgresUrl(), {
    meaning: "a read replica: DATABASE_READ_URLS with one",
    expectation: "a postgres:// URL, together with DATABASE_URL and without DATABASE_READ_URLS",
    example: "postgres://user:password@replica:5432/orders",
    fallback: "absent: the API reads the primary",
    secret: true,
  }),
  DATABASE_READ_URLS: setting(replicaList.default([]), {
    meaning:
      "read replicas of the API, comma-separated; `?weight=3` takes three times the reads of another (1 to 100, default 1), `?pooler=true` is the address of a pooler in front of one",
    expectation: "postgres:// URLs, comma-separated, together with DATABASE_URL",
    example:
      "postgres://user:password@replica-1:5432/orders,postgres://user:password@replica-2:5432/orders?weight=3",
    fallback: "absent: the API reads the primary",
    secret: true,
  }),
  DATABASE_READ_MAX_LAG_SECONDS: setting(wholeNumber(1, 3_600).default(5), {
    meaning: "seconds that a read replica may be behind; further behind it is not read from",
    expectation: "seconds, 1 to 3600",
    example: "5",
  }),
};

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
