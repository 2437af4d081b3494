import { type RawBuilder, sql } from "kysely";
import type { CollectionOrder } from "../../collection-stats/sorts.ts";
import type { Database } from "../../database.ts";
import {
  allCollectionParts,
  type CollectionParts,
  collectionJoins,
  columns,
  listedCollectionParts,
} from "./collection-columns.ts";
import { type CollectionRow, type FlatRow, nestFigures } from "./collection-row.ts";
import { directionOf, pageKeys, type Slice } from "./page-keys.ts";

type CollectionsFilter = {
  chainId: number;
  /** Part of a name, slug or address, in any case. */
  search: string | null;
  verified: boolean | null;
};

/** A page of collections and the number of matching ones, in one statement. */
export async function readCollections(
  db: Database,
  filter: CollectionsFilter,
  order: CollectionOrder,
  slice: Slice,
  now: Date,
  parts: CollectionParts = listedCollectionParts,
): Promise<{ total: bigint; rows: CollectionRow[] }> {
  const direction = directionOf(order);
  const { chainId, verified } = filter;
  const ofFilter = sql`
    chain_id = ${chainId} ${verified === null ? sql`` : sql`and verified = ${verified}`}`;
  const searchTerms = filter.search === null ? null : searchTermsLike(filter.search);
  const ofSearch =
    searchTerms === null ? sql`` : sql`and collection_id in (select collection_id from matched)`;
  const { rows } = await sql<FlatRow>`
    with matched as materialized (
      select collection_id from collection_stats.search_text where ${ofFilter} and ${searchTerms ?? sql`false`}
    ), counted as (
      ${
        searchTerms === null
          ? sql`select coalesce(sum(collections), 0)::bigint as total from collection_stats.collection_count where ${ofFilter}`
          : sql`select count(*) as total from matched`
      }
    ), page_key as materialized (${pageKeys(order, slice, sql`${ofFilter} ${ofSearch}`)}), page as materialized (
      select f.*, h.supply, h.holders, page_key.sort_key
      from page_key join collection_stats.collection f using (collection_id)
      join collection_stats.holder_stats h using (collection_id)
    )
    select counted.total, ${columns(now, parts)}
    from counted left join page f on true ${collectionJoins(now, parts)}
    order by f.sort_key ${direction}, f.collection_id ${direction}`.execute(db);
  return {
    total: rows[0]?.total ?? 0n,
    rows: rows.filter(({ collectionId }) => collectionId !== null).map(nestFigures),
  };
}

export async function readCollection(
  db: Database,
  collectionId: number,
  now: Date,
): Promise<CollectionRow | null> {
  const { rows } = await sql<FlatRow>`
    select 0::bigint as total, ${columns(now, allCollectionParts)}
    from (
      select f.*, h.supply, h.holders, 0::numeric as sort_key
      from collection_stats.collection f join collection_stats.holder_stats h using (collection_id)
      where f.collection_id = ${collectionId}
    ) f ${collectionJoins(now, allCollectionParts)}`.execute(db);
  const [row] = rows;
  return row === undefined ? null : nestFigures(row);
}

function searchTermsLike(search: string): RawBuilder<unknown> {
  const pattern = search.toLowerCase().replaceAll(/[\\%_]/g, "\\$&");
  return sql`terms like ${`%${pattern}%`}`;
}
