import type { IndexerSettings } from "#src/settings.ts";
import type { ReaderAddress } from "#api/background/chain-reader/serve-ponder.ts";
import type { IndexedSources } from "./indexed-sources.ts";
import type { IndexingContext } from "./indexing.ts";

/** Times that the reader is listed: Ponder allows each address 20 requests a second to begin with, and the reader none. */
const lanes = 16;

/** Settings of a Ponder process, which `src/settings.ts` reads. */
export function ponderSettings(
  { sources, databaseUrl }: Pick<IndexingContext, "databaseUrl"> & { sources: IndexedSources },
  { rpcUrl, wsUrl }: ReaderAddress,
): IndexerSettings {
  return {
    databaseUrl,
    chainId: sources.chainId,
    rpcUrls: Array.from({ length: lanes }, () => rpcUrl),
    wsUrl,
    sources: sources.sources,
  };
}
