import type { Logger } from "pino";
import type { Database } from "#projections/log/database.ts";
import type { ChainConfig } from "#ops/config/config.ts";
import type { IndexedSources } from "./indexed-sources.ts";

/** Passed to everything that runs an indexer of a chain. */
export type IndexingContext = {
  chain: ChainConfig;
  /** Its name; the chain's indexers differ in it. */
  indexer: string;
  /** What it is to index now. */
  readSources: () => Promise<IndexedSources>;
  databaseUrl: string;
  db: Database;
  logger: Logger;
  signal: AbortSignal;
};

/** URLs that may contain keys; they are masked in Ponder's log lines. */
export function secretsOf({ chain, databaseUrl }: Pick<IndexingContext, "chain" | "databaseUrl">) {
  return [databaseUrl, ...chain.rpcUrls, ...(chain.wsUrl === null ? [] : [chain.wsUrl])];
}
