import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../database.ts";

export type Period = "24h" | "7d" | "30d" | "all";

/** A family of contracts under its primary one; figures are of the whole family. */
export type CollectionRow = {
  collectionId: number;
  chainId: number;
  address: Hex;
  slug: string | null;
  name: string | null;
  symbol: string | null;
  standard: 721 | 1155 | null;
  verified: boolean;
  createdAt: Date | null;
  updatedAt: Date | null;
  contracts: { address: Hex; standard: 721 | 1155 | null }[];
  supply: bigint;
  holders: bigint;
  /** Wei in the chain's currencies, and sales in any, by period. */
  traded: Record<Period, { wei: bigint; sales: bigint }>;
  /** What the list was sorted by. */
  sortKey: bigint;
};

type CollectionSort = "volume" | "floor" | "sales" | "listed" | "supply" | "holders" | "change";

export type CollectionsFilter = {
  chainId: number;
  /** One collection instead of a list. */
  collectionId?: number;
  /** Part of a name or an address, in any case. */
  search: string | null;
  verified: boolean | null;
};

export type CollectionKey = { sortKey: bigint; collectionId: number };

export type CollectionOrder = {
  sort: CollectionSort;
  direction: "asc" | "desc";
  period: Exclude<Period, "all">;
};

/** What figures are measured against: the moment, and the currencies that count as the chain's. */
export type Measure = { now: Date; currencies: readonly Hex[] };

type Slice = { limit: number; offset: number; after: CollectionKey | null };

/** Collections in order, and how many the filter matches, of one moment. */
export async function readCollections(
  db: Database,
  filter: CollectionsFilter,
  order: CollectionOrder,
  measure: Measure,
  slice: Slice,
): Promise<{ total: bigint; rows: CollectionRow[] }> {
  const towards = order.direction === "asc" ? sql`asc` : sql`desc`;
  const { rows } = await sql<FlatRow>`
    with wanted as materialized (${wanted(filter)}),
    family as materialized (
      select w.collection_id, w.collection_id as contract_id from wanted w
      union
      select m.collection_id, m.contract_id from collections.member m join wanted w using (collection_id)
    ),
    ranked as (
      select w.collection_id, coalesce(k.value, 0)::numeric as sort_key
      from wanted w left join (${sortKeys(order, measure)}) k using (collection_id)
    ),
    page as (
      select r.* from ranked r ${beyond(order, slice.after)}
      order by r.sort_key ${towards}, r.collection_id ${towards}
      limit ${slice.limit} offset ${slice.offset}
    )
    select (select count(*) from wanted) as total, p.sort_key as "sortKey", c.collection_id as "collectionId",
           c.chain_id as "chainId", k.address, c.slug, c.name, c.symbol, c.standard, c.verified,
           c.created_at as "createdAt", c.updated_at as "updatedAt", made.contracts, owned.supply, owned.holders,
           traded.*
    from (select) one
    left join page p on true
    left join wanted c on c.collection_id = p.collection_id
    left join log.contract k on k.contract_id = p.collection_id
    left join lateral (${members}) made on true
    left join lateral (${holdings}) owned on true
    left join lateral (${volumes(measure)}) traded on true
    order by p.sort_key ${towards}, p.collection_id ${towards}`.execute(db);
  return {
    total: rows[0]?.total ?? 0n,
    rows: rows.filter((row) => row.collectionId !== null).map(deepen),
  };
}

type Traded = Record<`wei${Period}` | `sales${Period}`, bigint>;
type FlatRow = Omit<CollectionRow, "traded"> &
  Traded & { total: bigint; collectionId: number | null };

function deepen(row: FlatRow & { collectionId: number }): CollectionRow {
  const of = (period: Period) => ({ wei: row[`wei${period}`], sales: row[`sales${period}`] });
  return { ...row, traded: { "24h": of("24h"), "7d": of("7d"), "30d": of("30d"), all: of("all") } };
}

function wanted({
  chainId,
  collectionId,
  search,
  verified,
}: CollectionsFilter): RawBuilder<unknown> {
  const pattern =
    search === null ? null : `%${search.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`;
  return sql`
    select c.* from collections.collection c
    where c.chain_id = ${chainId}
    ${collectionId === undefined ? sql`` : sql`and c.collection_id = ${collectionId}`}
    ${verified === null ? sql`` : sql`and c.verified = ${verified}`}
    ${
      pattern === null
        ? sql``
        : sql`and (lower(c.name) like ${pattern} or c.collection_id in (
            select coalesce(m.collection_id, k.contract_id)
            from log.contract k left join collections.member m using (contract_id)
            where k.chain_id = ${chainId} and '0x' || encode(k.address, 'hex') like ${pattern}))`
    }`;
}

const periodHours = { "24h": 24, "7d": 168, "30d": 720 } as const;

/** Hours that begin after this lie whole in the period. */
function since({ now }: Measure, period: keyof typeof periodHours): Date {
  return new Date(now.getTime() - periodHours[period] * 3_600_000);
}

/** Floors, listings and their change are not derived yet: all collections are equal in them. */
function sortKeys({ sort, period }: CollectionOrder, measure: Measure): RawBuilder<unknown> {
  if (sort === "supply" || sort === "holders") {
    return sql`
      select p.collection_id, owned.${sql.id(sort)} as value
      from wanted p cross join lateral (${holdings}) owned`;
  }
  if (sort !== "volume" && sort !== "sales") {
    return sql`select w.collection_id, 0 as value from wanted w`;
  }
  const counted =
    sort === "sales"
      ? sql`sum(v.sales)`
      : sql`sum(v.wei) filter (where v.currency = any (${currencies(measure)}))`;
  return sql`
    select f.collection_id, ${counted} as value
    from family f join sales.volume v using (contract_id)
    where v.hour > ${since(measure, period)}
    group by f.collection_id`;
}

function beyond({ direction }: CollectionOrder, after: CollectionKey | null): RawBuilder<unknown> {
  if (after === null) return sql``;
  const than = direction === "asc" ? sql`>` : sql`<`;
  return sql`where (r.sort_key, r.collection_id) ${than} (${after.sortKey}, ${after.collectionId})`;
}

/** Contracts of the collection of row `p`. */
const ownFamily = sql`(
  select p.collection_id as contract_id
  union select m.contract_id from collections.member m where m.collection_id = p.collection_id
) f`;

const members = sql`
  select jsonb_agg(jsonb_build_object(
           'address', '0x' || encode(k.address, 'hex'), 'standard', coalesce(m.standard, o.standard))
           order by f.contract_id <> p.collection_id, f.contract_id) as contracts
  from ${ownFamily}
  join log.contract k using (contract_id)
  left join collections.member m using (contract_id)
  left join ownership.collection o using (contract_id)`;

/** A family counts an owner once, in however many of its contracts. */
const holdings = sql`
  select coalesce(sum(case when o.standard = 1155 then o.units else o.supply end), 0)::numeric as supply,
         case when count(*) > 1
           then (select count(distinct h.owner) from ${ownFamily} join ownership.holder h using (contract_id))
           else coalesce(sum(o.holders), 0)::bigint end as holders
  from ${ownFamily} join ownership.collection o using (contract_id)`;

function volumes(measure: Measure): RawBuilder<unknown> {
  const ours = sql`v.currency = any (${currencies(measure)})`;
  const columns = (["24h", "7d", "30d"] as const).map((period) => {
    const recent = sql`v.hour > ${since(measure, period)}`;
    return sql`
      coalesce(sum(v.wei) filter (where ${ours} and ${recent}), 0)::numeric as ${sql.id(`wei${period}`)},
      coalesce(sum(v.sales) filter (where ${recent}), 0)::bigint as ${sql.id(`sales${period}`)},`;
  });
  return sql`
    select ${sql.join(columns, sql` `)}
           coalesce(sum(v.wei) filter (where ${ours}), 0)::numeric as "weiall",
           coalesce(sum(v.sales), 0)::bigint as "salesall"
    from ${ownFamily} join sales.volume v using (contract_id)`;
}

function currencies({ currencies }: Measure): RawBuilder<unknown> {
  return sql`array(select decode(c, 'hex') from unnest(${currencies.map((one) => one.slice(2))}::text[]) c)`;
}
