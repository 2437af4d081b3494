import type { CheckedRpcs } from "./check-rpcs.ts";
import type { IndexedSources } from "./indexed-sources.ts";
import type { IndexingContext } from "./indexing.ts";

/** Times that a local RPC is listed. */
const localLanes = 16;

/** Environment of a Ponder process, which `src/settings.ts` reads. */
export function ponderSettings(
  {
    chain,
    sources,
    databaseUrl,
  }: Pick<IndexingContext, "chain" | "databaseUrl"> & { sources: IndexedSources },
  rpcs: CheckedRpcs,
): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    INDEXER_CHAIN_ID: `${sources.chainId}`,
    INDEXER_RPC_URLS: rpcs.rpcUrls.flatMap(repeatLocal).join(","),
    ...(rpcs.wsUrl === null ? {} : { INDEXER_WS_URL: rpcs.wsUrl }),
    INDEXER_SOURCES: sources.sources.map(({ name }) => name).join(","),
    ...Object.fromEntries(
      sources.sources.map((source) => [`INDEXER_SOURCE_${source.name}`, JSON.stringify(source)]),
    ),
    ...(chain.logsBlockRange === null
      ? {}
      : { INDEXER_LOGS_BLOCK_RANGE: `${chain.logsBlockRange}` }),
  };
}

/**
 * Ponder allows each address 20 requests a second to begin with, and raises that slowly. A node on this machine sets
 * no such limit: it is listed several times.
 */
function repeatLocal(url: string): string[] {
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);
  return Array.from({ length: isLocal ? localLanes : 1 }, () => url);
}
