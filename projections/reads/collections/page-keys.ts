import { type RawBuilder, sql } from "kysely";
import { absentKey, type CollectionOrder, sortFigure } from "#projections/collection-stats/sorts.ts";

export type CollectionKey = { sortKey: bigint; collectionId: number };

export type Slice = { limit: number; offset: number; after: CollectionKey | null };

export const directionOf = ({ direction }: CollectionOrder) =>
  direction === "asc" ? sql`asc` : sql`desc`;
const beyond = ({ direction }: CollectionOrder) => (direction === "asc" ? sql`>` : sql`<`);

/**
 * SQL: `collection_id` and `sort_key` of a page's collections `that` match: those with the figure by its index, those
 * without by their ids, as far as the page has a place for them.
 */
export function pageKeys(
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
