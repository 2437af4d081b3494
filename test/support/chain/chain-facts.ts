import { openChainClient } from "../../../api/background/chain/clients.ts";
import { fetchReadBasis } from "../../../api/background/chain/contract-calls.ts";
import type { ChainConfig } from "../../../api/run/config/chain-config.ts";
import { fetchEvents, fetchMissing } from "../../../api/run/indexer/chain-events.ts";
import { indexedSources } from "../../../api/run/indexer/indexed-sources.ts";
import { sourceFilters } from "../../../api/run/indexer/source-filters.ts";
import type { ChainId } from "../../../chains/index.ts";
import type { Database } from "../../../projections/database.ts";
import { stageDecoded } from "../../../projections/log/recording/ponder-events.ts";
import { type Appended, appendStaged, openStage } from "../../../projections/log/stage.ts";

/** What configuration may leave out. */
export type IndexedEvents = Pick<ChainConfig, "collections" | "wrappedNativeEvents">;

/**
 * Appends every event of a local chain up to its head as facts, without an indexer.
 * Facts already in the log are skipped, so it can be called after each change of the chain.
 */
export async function recordChain(
  db: Database,
  { chainId, rpcUrl }: { chainId: ChainId; rpcUrl: string },
  indexed: Partial<IndexedEvents> = {},
): Promise<Appended> {
  const client = openChainClient({ chainId, rpcUrls: [rpcUrl] });
  const config = {
    chainId,
    startBlock: 0,
    collections: "all",
    wrappedNativeEvents: "all",
    ...indexed,
  } as const;
  const filters = sourceFilters(indexedSources(config, { collections: [] }).sources);
  const { number } = await fetchReadBasis(client);
  const events = await fetchEvents(client, filters, { from: 0, to: Number(number) });
  if (events === null) throw new Error(`chain ${chainId} is too long to be read at once`);
  const { missing, coins } = await fetchMissing(db, client, events);
  return await db.transaction().execute(async (session) => {
    await openStage(session);
    await stageDecoded(session, missing, coins);
    return await appendStaged(session);
  });
}
