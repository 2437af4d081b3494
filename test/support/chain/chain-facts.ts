import type { ChainId } from "#chains/index.ts";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import { requestBatch } from "#jobs/chain/node-client.ts";
import type { ChainConfig } from "#ops/config/config.ts";
import { fetchMissing, readChainEvents } from "#ops/ponder/chain-events.ts";
import { indexedSources, sourceFilters } from "#ops/ponder/indexed-sources.ts";
import { isLogOf, type LogsFilter, type RpcLog } from "#ops/reader/block-proof.ts";
import { openNodePool, resultOrThrow } from "#ops/reader/node-pool.ts";
import { openBlockReader } from "#ops/reader/read-blocks.ts";
import { type Appended, appendStaged, openStage } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { stageDecoded } from "#projections/log/recording/ponder-events.ts";

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
  const blocks = openBlockReader(openNodePool({ chainId, rpcUrls: [rpcUrl], logsWidth: 0 }));
  const config = {
    chainId,
    startBlock: 0,
    collections: "all",
    wrappedNativeEvents: "all",
    ...indexed,
  } as const;
  const filters = sourceFilters(indexedSources(config, { collections: [] }).sources);
  const logs = await fetchAllLogs(client);
  const reader = { logs: async (filter: LogsFilter) => logs.filter((log) => isLogOf(filter, log)) };
  const events = await readChainEvents(reader, filters, { from: 0, to: Number.POSITIVE_INFINITY });
  const { missing, coins } = await fetchMissing(db, { client, blocks }, events);
  return await db.transaction().execute(async (session) => {
    await openStage(session);
    await stageDecoded(session, missing, coins);
    return await appendStaged(session);
  });
}

/** A local chain is short, and its node believed. */
async function fetchAllLogs(client: ChainClient): Promise<RpcLog[]> {
  const params = [{ fromBlock: "0x0", toBlock: "latest" }];
  const [answer] = await requestBatch(client, [{ method: "eth_getLogs", params }]);
  return resultOrThrow(answer) as RpcLog[];
}
