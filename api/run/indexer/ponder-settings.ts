import type { CheckedRpcs } from "./check-rpcs.ts";
import type { IndexingContext } from "./indexing.ts";

const localLanes = 16;

/** What `ponder.config.ts` reads. */
export function ponderSettings(
  { chain, sources, databaseUrl }: Pick<IndexingContext, "chain" | "sources" | "databaseUrl">,
  rpcs: CheckedRpcs,
): Record<string, string> {
  const { chainId, startBlock, transfersStartBlock, collections, wrappedNative } = sources;
  return {
    DATABASE_URL: databaseUrl,
    INDEXER_CHAIN_ID: `${chainId}`,
    INDEXER_RPC_URLS: rpcs.rpcUrls.flatMap(withLanes).join(","),
    ...(rpcs.wsUrl === null ? {} : { INDEXER_WS_URL: rpcs.wsUrl }),
    INDEXER_START_BLOCK: `${startBlock}`,
    INDEXER_TRANSFERS_START_BLOCK: `${transfersStartBlock}`,
    INDEXER_COLLECTIONS: collections === "*" ? "*" : collections.join(",") || "none",
    INDEXER_WRAPPED_NATIVE: wrappedNative,
    ...(chain.logsBlockRange === null
      ? {}
      : { INDEXER_LOGS_BLOCK_RANGE: `${chain.logsBlockRange}` }),
  };
}

/**
 * Ponder allows each address 20 requests a second to begin with, and raises that slowly. A node on this machine sets
 * no such limit: it is named once per lane.
 */
function withLanes(url: string): string[] {
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);
  return Array.from({ length: isLocal ? localLanes : 1 }, () => url);
}
