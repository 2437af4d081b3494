import { z } from "zod";
import type { DatabaseAddress } from "../../../projections/database.ts";
import { setting, urlOf, wholeNumber } from "./setting.ts";

/** A schema for each setting: it carries the setting's description. */
const postgresUrl = () => urlOf("postgres:", "postgresql:").optional();

const userOf = (process: string) =>
  setting(postgresUrl(), {
    meaning: `address of the same database for the \`${process}\` process, with a database user that only it uses; \`op roles grant\` gives that user its rights; where chains have databases of their own, the process uses this user in each`,
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

const chainDatabase = (chain: string) => ({
  url: setting(postgresUrl(), {
    meaning: `a database of ${chain}'s own, with its log, projections and orders; if another database already holds the chain's facts, the chain is served from that one until \`op cells move\` has moved it`,
    expectation: "a postgres:// URL of the owner",
    example: "postgres://user:password@localhost:5432/orders_of_one_chain",
    fallback: "DATABASE_URL",
    secret: true,
  }),
  pooler: setting(postgresUrl(), {
    meaning: `DATABASE_POOLER_URL of ${chain}'s own database`,
    expectation: "a postgres:// URL, together with the chain's DATABASE_URL",
    example: "postgres://api:password@localhost:6432/orders_of_one_chain",
    fallback: "absent: requests go to the database",
    secret: true,
  }),
  replicas: setting(replicaList.default([]), {
    meaning: `DATABASE_READ_URLS of ${chain}'s own database`,
    expectation: "postgres:// URLs, comma-separated, together with the chain's DATABASE_URL",
    example: "postgres://user:password@replica-1:5432/orders_of_one_chain",
    fallback: "absent: the API reads the primary",
    secret: true,
  }),
});
const [ethereum, apechain] = [chainDatabase("Ethereum"), chainDatabase("ApeChain")];

/** The databases, and as which users the processes use them. */
export const databaseSettings = {
  DATABASE_URL: setting(postgresUrl(), {
    meaning:
      "database on a PostgreSQL server, version 15 to 18, of all chains that have none of their own; its user owns the tables and migrates them",
    expectation: "a postgres:// URL",
    example: "postgres://user:password@localhost:5432/orders",
    fallback: "absent: embedded PostgreSQL in DATA_DIR",
    secret: true,
  }),
  DATABASE_URL_1: ethereum.url,
  DATABASE_URL_33139: apechain.url,
  DATABASE_URL_ACCOUNTS: setting(postgresUrl(), {
    meaning:
      "a database of accounts, keys, limits and the log of requests; it may hold a chain's log as well",
    expectation: "a postgres:// URL of the owner",
    example: "postgres://user:password@localhost:5432/accounts",
    fallback: "DATABASE_URL; without it the first chain's",
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
  DATABASE_POOLER_URL_1: ethereum.pooler,
  DATABASE_POOLER_URL_33139: apechain.pooler,
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
  DATABASE_READ_URLS_1: ethereum.replicas,
  DATABASE_READ_URLS_33139: apechain.replicas,
  DATABASE_READ_MAX_LAG_SECONDS: setting(wholeNumber(1, 3_600).default(5), {
    meaning: "seconds that a read replica may be behind; further behind it is not read from",
    expectation: "seconds, 1 to 3600",
    example: "5",
  }),
};
