import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import type { ChainConfig } from "../config/config.ts";
import type { IndexedSources } from "./indexed-sources.ts";

/** What indexing a chain works with. */
export type IndexingContext = {
  chain: ChainConfig;
  sources: IndexedSources;
  databaseUrl: string;
  db: Database;
  logger: Logger;
  signal: AbortSignal;
};

/** Addresses that may hold keys: Ponder's words are cut of them. */
export function secretsOf({ chain, databaseUrl }: Pick<IndexingContext, "chain" | "databaseUrl">) {
  return [databaseUrl, ...chain.rpcUrls, ...(chain.wsUrl === null ? [] : [chain.wsUrl])];
}
