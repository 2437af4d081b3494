import { type RawBuilder, sql } from "kysely";
import type { Period } from "../../collection-stats/periods.ts";
import { sortKey, sortTable } from "../../collection-stats/table.ts";
import type { Database } from "../../database.ts";
import { columns, naming } from "./collection-columns.ts";
import { type CollectionRow, deepen, type FlatRow } from "./collection-row.ts";

type CollectionsFilter = {
  chainId: number;
  /** Part of a name or an address, in any case. */
  search: string | null;
  verified: boolean | null;
};

export type CollectionKey = { sortKey: bigint; collectionId: number };

type CollectionOrder = {
  sort: "volume" | "floor" | "sales" | "listed" | "supply" | "holders" | "change";
  direction: "asc" | "desc";
  period: Period;
};

type Slice = { limit: number; offset: number; after: CollectionKey | null };

/** Collections in order, and how many the filter matches, of one moment. */
export async function readCollections(
  db: Database,
  filter: CollectionsFilter,
  order: CollectionOrder,
  slice: Slice,
  now: Date,
): Promise<{ total: bigint; rows: CollectionRow[] }> {
  const towards = order.direction === "asc" ? sql`asc` : sql`desc`;
  const key = sql.raw(sortKey(order.sort, order.direction, order.period));
  const { chainId, verified } = filter;
  const ofFilter = sql`
    chain_id = ${chainId} ${verified === null ? sql`` : sql`and verified = ${verified}`}`;
  const found = filter.search === null ? null : wordsLike(filter.search);
  const { rows } = await sql<FlatRow>`
    with matched as materialized (
      select collection_id from collection_stats.name where ${ofFilter} and ${found ?? sql`false`}
    ), counted as (
      ${
        found === null
          ? sql`select coalesce(sum(rows), 0)::bigint as total from collection_stats.total where ${ofFilter}`
          : sql`select count(*) as total from matched`
      }
    ), place as materialized (
      select collection_id, ${key}::numeric as sort_key
      from ${sql.table(`collection_stats.${sortTable(order.sort)}`)}
      where ${ofFilter} ${found === null ? sql`` : sql`and collection_id in (select collection_id from matched)`}
        ${beyond(key, order, slice.after)}
      order by ${key} ${towards}, collection_id ${towards}
      limit ${slice.limit} offset ${slice.offset}
    ), page as materialized (
      select f.*, h.supply, h.holders, place.sort_key
      from place join collection_stats.family f using (collection_id)
      join collection_stats.held h using (collection_id)
    )
    select counted.total, ${columns(now)}
    from counted left join page f on true ${naming(now)}
    order by f.sort_key ${towards}, f.collection_id ${towards}`.execute(db);
  return {
    total: rows[0]?.total ?? 0n,
    rows: rows.filter(({ collectionId }) => collectionId !== null).map(deepen),
  };
}

export async function readCollection(
  db: Database,
  collectionId: number,
  now: Date,
): Promise<CollectionRow | null> {
  const { rows } = await sql<FlatRow>`
    select 0::bigint as total, ${columns(now)}
    from (
      select f.*, h.supply, h.holders, 0::numeric as sort_key
      from collection_stats.family f join collection_stats.held h using (collection_id)
      where f.collection_id = ${collectionId}
    ) f ${naming(now)}`.execute(db);
  const [row] = rows;
  return row === undefined ? null : deepen(row);
}

function wordsLike(search: string): RawBuilder<unknown> {
  const pattern = search.toLowerCase().replaceAll(/[\\%_]/g, "\\$&");
  return sql`words like ${`%${pattern}%`}`;
}

function beyond(
  key: RawBuilder<unknown>,
  { direction }: CollectionOrder,
  after: CollectionKey | null,
): RawBuilder<unknown> {
  if (after === null) return sql``;
  const than = direction === "asc" ? sql`>` : sql`<`;
  return sql`and (${key}, collection_id) ${than} (${after.sortKey}::numeric, ${after.collectionId}::int)`;
}
