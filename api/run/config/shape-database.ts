import { type ChainId, chainIds } from "#chains/index.ts";
import type { ReplicaAddress } from "./database-settings.ts";
import type { Environment } from "./environment.ts";

/** `url` is null where PostgreSQL is embedded, others where they are not set. */
export type DatabaseConfig = {
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
export const servedChainIds = (env: Environment, localChains: boolean): ChainId[] =>
  chainIds.filter((chainId) => localChains || env[`RPC_URL_${chainId}`] !== undefined);

export function shapeDatabase(env: Environment): DatabaseConfig {
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
