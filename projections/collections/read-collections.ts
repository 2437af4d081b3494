import { type RawBuilder, sql } from "kysely";
import type { Database } from "../log/database.ts";
import {
  allCollectionParts,
  type CollectionParts,
  type CollectionRow,
  collectionRowColumns,
  collectionRowJoins,
  type FlatRow,
  listedCollectionParts,
  nestFigures,
} from "./read-collection-row.ts";
import { absentKey, type CollectionOrder, sortFigure } from "./read-figures.ts";

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
    select ${collectionRowColumns(now, parts)}
    from (
      select f.*, h.supply, h.holders
      from unnest(${collectionIds}::int[]) wanted (collection_id)
      join collection_stats.collection f using (collection_id)
      join collection_stats.holder_stats h using (collection_id)
    ) f ${collectionRowJoins(now, parts)}`.execute(db);
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

export type CollectionKey = { sortKey: bigint; collectionId: number };

type Slice = { limit: number; offset: number; after: CollectionKey | null };

const directionOf = ({ direction }: CollectionOrder) =>
  direction === "asc" ? sql`asc` : sql`desc`;
const beyond = ({ direction }: CollectionOrder) => (direction === "asc" ? sql`>` : sql`<`);

/**
 * SQL: `collection_id` and `sort_key` of a page's collections `that` match: those with the figure by its index, those
 * without by their ids, as far as the page has a place for them.
 */
function pageKeys(
  order: CollectionOrder,
  slice: Slice,
  that: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { isPresent } = sortFigure(order);
  const { limit, offset } = slice;
  if (isPresent === null)
    return sql`${keysOfPresent(order, slice, that)} limit ${limit} offset ${offset}`;
  const has = sql.raw(isPresent);
  const places = sql`${limit}::int + ${offset}::int`;
  const areLast = order.direction === "desc" || absentKey(order) > 0n;
  const left = areLast ? sql`greatest(0, ${places} - (select count(*) from present))` : places;
  const direction = directionOf(order);
  return sql`
    with present as materialized (
      ${keysOfPresent(order, slice, sql`${that} and ${has}`)} limit ${places}
    )
    select * from (
      select * from present
      union all
      (${keysOfAbsent(order, slice, sql`${that} and not (${has})`)} limit ${left})
    ) found
    order by sort_key ${direction}, collection_id ${direction}
    limit ${limit} offset ${offset}`;
}

function keysOfPresent(
  order: CollectionOrder,
  { after }: Slice,
  that: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { table, value } = sortFigure(order);
  const [figure, direction] = [sql.raw(value), directionOf(order)];
  const afterLast =
    after === null
      ? sql``
      : sql`and (${figure}, collection_id) ${beyond(order)} (${after.sortKey}::numeric, ${after.collectionId}::int)`;
  return sql`
    select collection_id, ${figure}::numeric as sort_key from ${sql.table(`collection_stats.${table}`)}
    where ${that} ${afterLast}
    order by ${figure} ${direction}, collection_id ${direction}`;
}

function keysOfAbsent(
  order: CollectionOrder,
  { after }: Slice,
  that: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { table } = sortFigure(order);
  const key = absentKey(order);
  return sql`
    select collection_id, ${key}::numeric from ${sql.table(`collection_stats.${table}`)}
    where ${that} ${after === null ? sql`` : afterAbsent(order, after, key)}
    order by collection_id ${directionOf(order)}`;
}

/** They have one key: a list is before all of them, past them, or among them. */
function afterAbsent(
  order: CollectionOrder,
  { sortKey, collectionId }: CollectionKey,
  key: bigint,
): RawBuilder<unknown> {
  if (sortKey === key) return sql`and collection_id ${beyond(order)} ${collectionId}::int`;
  const isPast = order.direction === "asc" ? sortKey > key : sortKey < key;
  return isPast ? sql`and false` : sql``;
}
