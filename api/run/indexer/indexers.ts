import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import { coreIndexer, type IndexedSource, readCaughtUpIndexers, readSources } from "#projections/log/sources.ts";
import type { ChainConfig, Config } from "#ops/config/config.ts";
import { contentsOf, declaredCollections, type EventSource, hasMetadataEvents, type IndexedCollection, type IndexedSources, indexedSources, metadataSourceName } from "./indexed-sources.ts";
import { namedCollections, plainContract } from "./plain-transfers.ts";

/** One of a chain's indexers. */
export type Indexer = {
  name: string;
  /** What its Ponder indexes: sources that were removed as well, as without them it would index all others again. */
  sources: IndexedSources;
  /** What of it is recorded. */
  recorded: IndexedSources;
};

type Curated = Pick<Config["curated"], "collections">;

/**
 * A chain's indexers; before the first start one with all that is configured. Without `removed` only those of which a
 * source is not removed.
 */
export async function readIndexers(
  db: Database,
  chain: ChainConfig,
  curated: Curated,
  { removed = false }: { removed?: boolean } = {},
): Promise<Indexer[]> {
  const all = await readSources(db, chain.chainId);
  if (all.length === 0) {
    const sources = indexedSources(chain, curated);
    return [{ name: coreIndexer, sources, recorded: sources }];
  }
  const names = all.flatMap((one) => (removed || one.removedBy === null ? [one.indexer] : []));
  const declared = declaredCollections(chain, curated);
  return [...new Set([coreIndexer, ...names])].map((name) => {
    const members = all.filter(({ indexer }) => indexer === name);
    const left = all.filter(({ leftIndexer }) => leftIndexer === name);
    const contents = (some: readonly IndexedSource[]) =>
      contentsOf(chain, {
        isCore: name === coreIndexer,
        protocols: some.flatMap(({ source, address }) => (address === null ? [source] : [])),
        collections: collectionsOf(name, some, declared),
        metadata: metadataOf(some, all, declared),
        plain: plainOf(some, namedCollections(chain, curated)),
      });
    return {
      name,
      sources: contents([...members, ...left]),
      recorded: contents(members.filter(({ removedBy }) => removedBy === null)),
    };
  });
}

function plainOf(
  members: readonly IndexedSource[],
  named: readonly IndexedCollection[],
): IndexedCollection[] {
  return members.flatMap((member) => {
    const address = plainContract(member);
    if (address === null) return [];
    return [named.find((one) => one.address === address) ?? { address, firstBlock: null }];
  });
}

/** `declared` null: the core indexer indexes the transfers of all contracts. */
function collectionsOf(
  indexer: string,
  members: readonly IndexedSource[],
  declared: readonly IndexedCollection[] | null,
): IndexedCollection[] | null {
  if (declared === null && indexer === coreIndexer) return null;
  return withFirstBlocks(members, declared);
}

function withFirstBlocks(
  sources: readonly IndexedSource[],
  declared: readonly IndexedCollection[] | null,
): IndexedCollection[] {
  const configured = new Map(declared?.map(({ address, firstBlock }) => [address, firstBlock]));
  return sources.flatMap(({ address, firstBlock }) =>
    address === null ? [] : [{ address, firstBlock: configured.get(address) ?? firstBlock }],
  );
}

/** Collections that were added by releases without these events have them from the source that stands for them alone. */
function metadataOf(
  members: readonly IndexedSource[],
  all: readonly IndexedSource[],
  declared: readonly IndexedCollection[] | null,
): IndexedCollection[] | null {
  const isAdded = members.some(({ source }) => source === metadataSourceName);
  if (isAdded && declared === null) return null;
  const own = members.filter(hasMetadataEvents);
  const others = isAdded ? all.filter((one) => !hasMetadataEvents(one)) : [];
  return withFirstBlocks([...own, ...others], declared);
}

/** All that is recorded of a chain. */
export function recordedSources(indexers: readonly Indexer[]): EventSource[] {
  return indexers.flatMap(({ recorded }) => recorded.sources);
}

/** Contracts whose transfers are indexed as they happen. */
export async function readFollowedCollections(
  db: Database,
  chain: ChainConfig,
  curated: Curated,
): Promise<Address[]> {
  const all = await readSources(db, chain.chainId);
  if (all.length === 0) {
    return (declaredCollections(chain, curated) ?? []).map(({ address }) => address);
  }
  const caughtUp = await readCaughtUpIndexers(db, chain.chainId);
  return all.flatMap(({ address, indexer, removedBy }) => {
    const isFollowed = removedBy === null && (indexer === coreIndexer || caughtUp.has(indexer));
    return address !== null && isFollowed ? [address] : [];
  });
}
