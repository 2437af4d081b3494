import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { chainIds } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import { bytea } from "#projections/log/sql-values.ts";
import { beginsWith, searchWords } from "#projections/sql/search-words.ts";

/** A collection that a search finds. */
export type CollectionMatch = {
  collectionId: number;
  chainId: number;
  address: Hex;
  slug: string;
  name: string | null;
  symbol: string | null;
  standard: 721 | 1155 | null;
  verified: boolean;
  holders: bigint;
  sales: bigint;
  image: string | null;
  contractIds: number[];
  /** A verified collection of the same name, or one that looks like it, when this one is not verified. */
  sameNameAs: { chainId: number; address: Hex; slug: string; name: string | null } | null;
};

/** Rows of an index range that are looked at: a prefix may have any number of them. */
const maxCandidates = 500;

/** By the beginnings of words; several words must all be found. Verified collections first, then exact names. */
export function readCollectionsByText(
  db: Database,
  chainIds: readonly number[],
  text: string,
  limit: number,
): Promise<CollectionMatch[]> {
  return readMatches(
    db,
    sql`asked as (
    select words, array_to_string(words, '') as folded,
           (select one from unnest(words) one order by length(one) desc limit 1) as longest
    from (select ${searchWords(sql`${text}::text`)} as words) said
  ), found as (${byWords(chainIds)})`,
    sql`exists (select from collections.word w where w.collection_id = c.collection_id and w.word = asked.folded)`,
    limit,
  );
}

/** Of the contracts whose addresses, 20 bytes, are between two. */
export function readCollectionsByAddress(
  db: Database,
  chainIds: readonly number[],
  [from, to]: readonly [Hex, Hex],
  limit: number,
): Promise<CollectionMatch[]> {
  return readMatches(
    db,
    sql`asked as (select), found as (
      select m.collection_id from unnest(${chainIds}::int[]) chain (chain_id)
      cross join lateral (
        select k.contract_id from log.contract k
        where k.chain_id = chain.chain_id and k.address between ${bytea(from)} and ${bytea(to)}
        order by k.address limit ${maxCandidates}
      ) k join collections.contract m using (contract_id)
    )`,
    sql`false`,
    limit,
  );
}

function byWords(chainIds: readonly number[]): RawBuilder<unknown> {
  const begin = (prefix: RawBuilder<unknown>) => sql`
    select w.collection_id from collections.word w
    where w.chain_id = chain.chain_id and w.verified = state.verified and ${beginsWith(sql`w.word`, prefix)}
    order by w.word limit ${maxCandidates}`;
  return sql`
    select near.collection_id from asked
    cross join unnest(${chainIds}::int[]) chain (chain_id) cross join (values (true), (false)) state (verified)
    cross join lateral (
      (${begin(sql`asked.folded`)})
      union all
      select one.collection_id from (${begin(sql`asked.longest`)}) one
      where cardinality(asked.words) > 1 and not exists (
        select from unnest(asked.words) other (word) where not exists (
          select from collections.word w
          where w.collection_id = one.collection_id and ${beginsWith(sql`w.word`, sql`other.word`)}
        )
      )
    ) near
    where asked.folded <> ''`;
}

/** `ctes`: `asked`, one row, and `found` (collection_id), with repetitions. `isExact`: first among the verified ones. */
async function readMatches(
  db: Database,
  ctes: RawBuilder<unknown>,
  isExact: RawBuilder<unknown>,
  limit: number,
): Promise<CollectionMatch[]> {
  const { rows } = await sql<CollectionMatch>`
    with ${ctes}, page as materialized (
      select c.*, coalesce(s.sales_all, 0) as sales, coalesce(h.holders, 0) as holders,
             row_number() over (order by c.verified desc, (${isExact}) desc, s.sales_all desc nulls last,
                                         h.holders desc nulls last, c.collection_id) as place
      from asked cross join (select distinct collection_id from found) one
      join collections.collection c using (collection_id)
      left join collection_stats.collection s using (collection_id)
      left join collection_stats.holder_stats h using (collection_id)
      order by place limit ${limit}
    )
    select c.collection_id as "collectionId", c.chain_id as "chainId", k.address, c.slug, c.name, c.symbol, c.standard,
           c.verified, c.holders, c.sales, md.image,
           array(
             select m.contract_id from collections.contract m where m.collection_id = c.collection_id order by 1
           ) as "contractIds",
           case when not c.verified then (${verifiedNamesake}) end as "sameNameAs"
    from page c join log.contract k on k.contract_id = c.collection_id
    left join metadata.contract md on md.contract_id = c.collection_id
    order by c.place`.execute(db);
  return rows;
}

/** Of those of the same name first; then of those whose names look like it. */
const verifiedNamesake = sql`
  select jsonb_build_object('chainId', v.chain_id, 'address', '0x' || encode(a.address, 'hex'), 'slug', v.slug,
                            'name', v.name)
  from collections.word own
  cross join lateral (
    select known.collection_id, false as is_alike from collections.word known
    where known.chain_id in (${sql.join(chainIds.map((id) => sql.lit(id)))})
      and known.verified and known.word = own.word and known.is_name
    union all
    select known.collection_id, true from collections.word known where known.verified and known.look = own.look
  ) known
  join collections.collection v on v.collection_id = known.collection_id
  join log.contract a on a.contract_id = v.collection_id
  where own.collection_id = c.collection_id and own.is_name
  order by known.is_alike, v.chain_id <> c.chain_id, v.collection_id limit 1`;
