import { type RawBuilder, sql } from "kysely";
import type { CollectionOrder } from "#projections/collection-stats/sorts.ts";
import type { Database } from "#projections/log/database.ts";
import { allCollectionParts, type CollectionParts, collectionJoins, columns, listedCollectionParts } from "./collection-columns.ts";
import { type CollectionRow, type FlatRow, nestFigures } from "./collection-row.ts";
import { type CollectionKey, directionOf, pageKeys, type Slice } from "./page-keys.ts";

type CollectionsFilter = {
  chainId: number;
  /** Part of a name, slug or address, in any case. */
  search: string | null;
  verified: boolean | null;
};

/** The keys of a page of collections, in order, and how many match, in one statement. */
export async function readCollectionKeys(
  db: Database,
  filter: CollectionsFilter,
  order: CollectionOrder,
  slice: Slice,
): Promise<{ total: bigint; keys: CollectionKey[] }> {
  const direction = directionOf(order);
  const { chainId, verified } = filter;
  const ofFilter = sql`
    chain_id = ${chainId} ${verified === null ? sql`` : sql`and verified = ${verified}`}`;
  const searchTerms = filter.search === null ? null : searchTermsLike(filter.search);
  const ofSearch =
    searchTerms === null ? sql`` : sql`and collection_id in (select collection_id from matched)`;
  const { rows } = await sql<{ total: bigint; sortKey: bigint; collectionId: number | null }>`
    with matched as materialized (
      select collection_id from collection_stats.search_text where ${ofFilter} and ${searchTerms ?? sql`false`}
    ), counted as (
      ${
        searchTerms === null
          ? sql`select coalesce(sum(collections), 0)::bigint as total from collection_stats.collection_count where ${ofFilter}`
          : sql`select count(*) as total from matched`
      }
    ), page_key as materialized (${pageKeys(order, slice, sql`${ofFilter} ${ofSearch}`)})
    select counted.total, k.sort_key as "sortKey", k.collection_id as "collectionId"
    from counted left join page_key k on true
    order by k.sort_key ${direction}, k.collection_id ${direction}`.execute(db);
  const keys = rows.flatMap(({ sortKey, collectionId }) =>
    collectionId === null ? [] : { sortKey, collectionId },
  );
  return { total: rows[0]?.total ?? 0n, keys };
}

/** Collections by their ids, unsorted. */
export async function readCollections(
  db: Database,
  collectionIds: readonly number[],
  now: Date,
  parts: CollectionParts = listedCollectionParts,
): Promise<CollectionRow[]> {
  const { rows } = await sql<FlatRow>`
    select ${columns(now, parts)}
    from (
      select f.*, h.supply, h.holders
      from unnest(${collectionIds}::int[]) wanted (collection_id)
      join collection_stats.collection f using (collection_id)
      join collection_stats.holder_stats h using (collection_id)
    ) f ${collectionJoins(now, parts)}`.execute(db);
  return rows.map(nestFigures);
}

export async function readCollection(
  db: Database,
  collectionId: number,
  now: Date,
): Promise<CollectionRow | null> {
  return (await readCollections(db, [collectionId], now, allCollectionParts))[0] ?? null;
}

function searchTermsLike(search: string): RawBuilder<unknown> {
  const pattern = search.replaceAll(/[\\%_]/g, "\\$&");
  // In the database's lower case, as names are stored.
  return sql`terms like lower(${`%${pattern}%`})`;
}
