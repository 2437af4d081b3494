import { sql } from "kysely";
import type { Address } from "viem";
import type { Database, Session } from "./database.ts";

type Decider = "configuration" | "operator";

/** An exchange, or a collection's transfers, that is indexed or was. */
export type IndexedSource = {
  /** Its exchange's protocol, or its collection's address. */
  source: string;
  indexer: string;
  /** Another that still has its events, which are not recorded from there. */
  leftIndexer: string | null;
  /** Names stored with its events. */
  eventSources: readonly string[];
  /** Of a collection. */
  address: Address | null;
  /** null: the configured one. */
  firstBlock: number | null;
  addedBy: Decider;
  removedBy: Decider | null;
};

/** Every source of a chain that was ever indexed, in the order of their addition. */
export async function readSources(db: Database, chainId: number): Promise<IndexedSource[]> {
  const { rows } = await sql<IndexedSource & { firstBlock: bigint | null }>`
    select source, indexer, left_indexer as "leftIndexer", event_sources as "eventSources", address, first_block as "firstBlock",
           added_by as "addedBy", removed_by as "removedBy"
    from ops.source where chain_id = ${chainId} order by added_at, address is not null, source`.execute(
    db,
  );
  return rows.map((row) => ({
    ...row,
    firstBlock: row.firstBlock === null ? null : Number(row.firstBlock),
  }));
}

export type NewSource = Omit<IndexedSource, "removedBy" | "leftIndexer">;

export async function addSources(
  db: Database,
  chainId: number,
  sources: readonly NewSource[],
): Promise<void> {
  for (const { source, indexer, eventSources, address, firstBlock, addedBy } of sources) {
    await sql`
      insert into ops.source (chain_id, source, indexer, event_sources, address, first_block, added_by)
      values (${chainId}, ${source}, ${indexer}, ${eventSources}::text[], ${address}, ${firstBlock}, ${addedBy})
      on conflict (chain_id, source) do nothing`.execute(db);
  }
}

/** Stops recording it; its facts stay. */
export async function removeSource(
  db: Session,
  chainId: number,
  source: string,
  by: Decider,
): Promise<void> {
  await sql`
    update ops.source set removed_at = now(), removed_by = ${by}
    where chain_id = ${chainId} and source = ${source} and removed_at is null`.execute(db);
}

/**
 * Records it again. One that shares its indexer gets its own, as the others' facts are not recorded again: it is indexed
 * anew from the cache.
 */
export async function restoreSource(db: Session, chainId: number, source: string): Promise<void> {
  await sql`
    update ops.source restored
    set removed_at = null, removed_by = null,
        left_indexer = case when is_shared then restored.indexer else restored.left_indexer end,
        indexer = case when is_shared then restored.source else restored.indexer end
    from (
      select s.source, s.indexer = ${coreIndexer} or exists (
        select from ops.source other
        where other.chain_id = ${chainId} and other.source <> ${source}
          and s.indexer in (other.indexer, other.left_indexer)) as is_shared
      from ops.source s where s.chain_id = ${chainId} and s.source = ${source}
    ) found
    where restored.chain_id = ${chainId} and restored.source = found.source and restored.removed_at is not null
  `.execute(db);
  await sql`
    update ops.indexer i set caught_up_at = null from ops.source s
    where s.chain_id = ${chainId} and s.source = ${source} and s.indexer = i.name and i.chain_id = s.chain_id
  `.execute(db);
}

/** Takes what is not recorded out of an indexer, which is then indexed without it. */
export async function detachRemoved(db: Database, { chainId, indexer }: IndexerId): Promise<void> {
  await sql`
    update ops.source set indexer = source
    where chain_id = ${chainId} and indexer = ${indexer} and removed_at is not null`.execute(db);
  await sql`
    update ops.source set left_indexer = null
    where chain_id = ${chainId} and left_indexer = ${indexer}`.execute(db);
}

/** The indexers that have followed new blocks since their first pass. */
export async function readCaughtUpIndexers(db: Database, chainId: number): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select name from ops.indexer where chain_id = ${chainId} and caught_up_at is not null`.execute(
    db,
  );
  return new Set(rows.map(({ name }) => name));
}

/** A chain's indexers that have begun and of whose sources one is not removed, the one that every chain has first. */
export async function readIndexerNames(db: Database, chainId: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select i.name from ops.indexer i
    where i.chain_id = ${chainId} and (i.name = ${coreIndexer} or exists (
      select from ops.source s
      where s.chain_id = i.chain_id and s.indexer = i.name and s.removed_at is null))
    order by i.name <> ${coreIndexer}, i.started_at, i.name`.execute(db);
  return rows.map(({ name }) => name);
}

/** Whether all of them have followed new blocks since their first pass. */
export async function haveIndexersCaughtUp(db: Database, chainId: number): Promise<boolean> {
  const [names, caughtUp] = [
    await readIndexerNames(db, chainId),
    await readCaughtUpIndexers(db, chainId),
  ];
  return names.length > 0 && names.every((name) => caughtUp.has(name));
}

/** One of a chain's indexers: a Ponder process with its schema. */
export type IndexerId = { chainId: number; indexer: string };

/** The indexer that every chain has. */
export const coreIndexer = "core";
