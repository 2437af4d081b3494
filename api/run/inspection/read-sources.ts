import type { Database } from "#projections/log/database.ts";
import { type IndexerState, readIndexerStates } from "#projections/log/progress.ts";
import { type IndexedSource, readSources } from "#projections/log/sources.ts";
import type { ChainConfig } from "#ops/config/config.ts";
import { type FetchChainHead, fetchChainHead } from "./fetch-chain-head.ts";

/** What is indexed of a chain, by which indexer and how far: what `op sources` prints. */
export async function readChainSources(
  db: Database,
  chain: ChainConfig,
  fetchHead: FetchChainHead = fetchChainHead,
) {
  const { head } = chain.rpcUrls.length > 0 ? await fetchHead(chain) : { head: null };
  const indexers = await readIndexerStates(db, chain.chainId, head?.number ?? null);
  const states = new Map(indexers.map((one) => [one.indexer, one]));
  const sources = (await readSources(db, chain.chainId)).map((one) => ({
    source: one.source,
    indexer: one.indexer,
    addedBy: one.addedBy,
    removedBy: one.removedBy,
    ...progressOf(one, states.get(one.indexer)),
  }));
  return { chainId: chain.chainId, head: head?.number ?? null, sources };
}

function progressOf({ removedBy }: IndexedSource, state: IndexerState | undefined) {
  if (removedBy !== null || state === undefined) {
    return { state: "removed", indexed: null, remainingBlocks: null, remainingSeconds: null };
  }
  const { indexed, remainingBlocks, remainingSeconds } = state;
  return { state: state.state, indexed, remainingBlocks, remainingSeconds };
}

export type ChainSources = Awaited<ReturnType<typeof readChainSources>>;
