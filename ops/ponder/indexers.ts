import { sql } from "kysely";
import type { Address } from "viem";
import type { Database, Session } from "#projections/log/database.ts";
import {
  addSources,
  coreIndexer,
  type IndexedSource,
  type NewSource,
  readCaughtUpIndexers,
  readSources,
  removeSource,
  restoreSource,
} from "#projections/log/sources.ts";
import type { ChainConfig, Config } from "../config/config.ts";
import {
  addableExchanges,
  type ChainEventSource,
  collectionEvents,
  contentsOf,
  coreProtocol,
  declaredCollections,
  hasMetadataEvents,
  type IndexedCollection,
  type IndexedSources,
  indexedSources,
  type MetadataShape,
  metadataShapes,
} from "./indexed-sources.ts";
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
        metadata: (shape) => metadataOf(shape, some, all, declared),
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
  shape: MetadataShape,
  members: readonly IndexedSource[],
  all: readonly IndexedSource[],
  declared: readonly IndexedCollection[] | null,
): IndexedCollection[] | null {
  const isAdded = members.some(({ source }) => source === shape.source);
  if (isAdded && declared === null) return null;
  const own = members.filter((one) => hasMetadataEvents(one, shape));
  const others = isAdded ? all.filter((one) => !hasMetadataEvents(one, shape)) : [];
  return withFirstBlocks([...own, ...others], declared);
}

/** All that is recorded of a chain. */
export function recordedSources(indexers: readonly Indexer[]): ChainEventSource[] {
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

type Assignment = {
  chain: ChainConfig;
  curated: Pick<Config["curated"], "collections">;
  processes: Config["indexerProcesses"];
};

type DeclaredSource = Pick<NewSource, "source" | "eventSources" | "address" | "firstBlock">;

/** The source that stands for all that the core indexer always indexes. */
const coreSource: NewSource = {
  source: coreProtocol,
  indexer: coreIndexer,
  eventSources: [],
  address: null,
  firstBlock: null,
  addedBy: "configuration",
};

/**
 * Gives every configured source of a chain an indexer that keeps it. The core indexer has those of the first start; one
 * that is new later gets another, so that nothing else is indexed again. Sources that are no longer configured are removed.
 */
export async function assignIndexers(db: Database, assignment: Assignment): Promise<void> {
  const { chain, curated } = assignment;
  const { chainId } = chain;
  await db.transaction().execute(async (session) => {
    await sql`lock table ops.source in share row exclusive mode`.execute(session);
    if (chain.collections === "all") {
      await sql`
        delete from ops.source where chain_id = ${chainId} and address is not null`.execute(
        session,
      );
    }
    const known = await readSources(session, chainId);
    const declared = [
      ...exchangeSources(chain),
      ...(declaredCollections(chain, curated) ?? []).map(collectionSource),
      ...metadataSources(chain, known),
    ];
    const named = new Set(namedCollections(chain, curated).map(({ address }) => address));
    const plain = known.filter((one) => named.has(plainContract(one) ?? "0x"));
    const kept = [...declared, ...plain].map(({ source }) => source);
    await updateKnown(session, chainId, known, new Set(kept));
    const knownNames = new Set(known.map(({ source }) => source));
    const added = declared.filter(({ source }) => !knownNames.has(source));
    const isFirst = !knownNames.has(coreProtocol);
    const began = isFirst && (await hasBegun(session, chainId));
    await addSources(session, chainId, [
      ...(isFirst ? [coreSource] : []),
      ...placeSources(added, known, { isFirst, began, processes: assignment.processes }),
    ]);
  });
}

/** Removes what is no longer configured, and restores what is again. An operator's decisions stand. */
async function updateKnown(
  session: Session,
  chainId: number,
  known: readonly IndexedSource[],
  declared: ReadonlySet<string>,
): Promise<void> {
  for (const { source, addedBy, removedBy } of known) {
    if (source === coreProtocol) continue;
    const isDeclared = declared.has(source);
    if (isDeclared && removedBy === "configuration") {
      await restoreSource(session, chainId, source);
    } else if (!isDeclared && addedBy === "configuration" && removedBy === null) {
      await removeSource(session, chainId, source, "configuration");
    }
  }
}

type Start = { isFirst: boolean; began: boolean; processes: Config["indexerProcesses"] };

/** `began`: an earlier version has indexed the chain, its collections among it and no exchange but the core one. */
function placeSources(
  added: readonly DeclaredSource[],
  known: readonly IndexedSource[],
  { isFirst, began, processes }: Start,
): NewSource[] {
  const inCore = ({ address }: DeclaredSource) =>
    isFirst && (address !== null || (!began && processes === "shared"));
  const apart = added.filter((one) => !inCore(one));
  const shared = processes === "shared" && apart.length > 1 ? unusedName(known) : null;
  // What an earlier version has indexed stays as it was.
  const eventsOf = (one: DeclaredSource) =>
    began && inCore(one)
      ? one.eventSources.filter((name) => metadataShapes.every((shape) => shape.name !== name))
      : one.eventSources;
  return added.map((one) => ({
    ...one,
    eventSources: eventsOf(one),
    addedBy: "configuration",
    indexer: inCore(one) ? coreIndexer : (shared ?? one.source),
  }));
}

/** Of an indexer of several sources that were added together. */
function unusedName(known: readonly IndexedSource[]): string {
  const used = new Set(known.map(({ indexer }) => indexer));
  for (let number = 1; ; number += 1) {
    const name = `added-${number}`;
    if (!used.has(name)) return name;
  }
}

async function hasBegun(db: Database, chainId: number): Promise<boolean> {
  const { rows } = await sql`
    select from ops.indexer where chain_id = ${chainId} limit 1`.execute(db);
  return rows.length > 0;
}

export function exchangeSources({ chainId }: Pick<ChainConfig, "chainId">): DeclaredSource[] {
  return addableExchanges(chainId).map(({ protocol, eventSources }) => ({
    source: protocol,
    eventSources,
    address: null,
    firstBlock: null,
  }));
}

export function collectionSource({
  address,
  firstBlock,
}: {
  address: NonNullable<DeclaredSource["address"]>;
  firstBlock: number | null;
}): DeclaredSource {
  return { source: address, eventSources: collectionEvents, address, firstBlock };
}

/** The sources of changes of metadata: of any contract, or of collections that were added without them. */
export function metadataSources(
  { collections }: Pick<ChainConfig, "collections">,
  known: readonly IndexedSource[],
): DeclaredSource[] {
  return metadataShapes.flatMap((shape): DeclaredSource[] => {
    const isOfNone = (one: IndexedSource) => one.address !== null && !hasMetadataEvents(one, shape);
    if (collections !== "all" && !known.some(isOfNone)) return [];
    const { name, source } = shape;
    return [{ source, eventSources: [name], address: null, firstBlock: null }];
  });
}
