import { type RawBuilder, sql } from "kysely";
import { bitOf, chunkOf } from "#projections/engine/token-ids.ts";
import { hasNoEndedListing, matchesListed } from "../traits/current-listings.ts";
import { bitRunsOf, chunksWithTraits, keyArray } from "../traits/token-bitmaps.ts";
import { contractsOf, isByTraitsOnly, namesTokens, type TokenKey, type TokensFilter } from "./filter.ts";
import { namedCount, namedTokens } from "./named-tokens.ts";

/** Token ids are near each other below this span of chunks: a million consecutive ids are 128 kB of bits. */
const maxNearChunks = sql.lit(1024);

/**
 * CTEs that follow those of `currentListings`. `totals` of the collection: `tokens`, and `matching`, the number of
 * matching tokens. For a filter that names tokens `named_token`; for one by traits `trait_chunk`, bitmaps of the ids with
 * the traits, `run`, the same as one string per contract for scans where ids are near each other, and in `totals` what
 * the access path is chosen by.
 */
export function totalsCtes(filter: TokensFilter, after: TokenKey | null): RawBuilder<unknown> {
  const isByTraits = isByTraitsOnly(filter);
  const sums = [
    sql`coalesce((
      select sum(tokens) from ownership.collection where contract_id = any (${contractsOf(filter)})
    ), 0) as tokens`,
    ...(filter.listed === null ? [] : [listedCount(filter)]),
    ...(isByTraits ? traitCounts(filter) : []),
  ];
  return sql.join([
    ...(namesTokens(filter)
      ? [sql`named_token as materialized (${namedTokens(filter, after)})`]
      : []),
    ...(isByTraits
      ? [sql`trait_chunk as materialized (${chunksWithTraits(filter.traitKeys ?? [])})`]
      : []),
    sql`
    totals as materialized (
      select *, ${matchingCount(filter)} as matching from (select ${sql.join(sums)}) sums
    )`,
    ...(isByTraits ? [sql`run as materialized (${bitRunsOf(sql`trait_chunk`)})`] : []),
  ]);
}

/** Column `listed`: how many of the collection's tokens are listed. */
function listedCount(filter: TokensFilter): RawBuilder<unknown> {
  const ofCollection = sql`contract_id = any (${contractsOf(filter)})`;
  return sql`
    coalesce((select sum(listed) from traits.contract where ${ofCollection}), 0)::bigint
    - (select count(*) from traits.listed_token l join expired_token using (contract_id, token_id) where l.${ofCollection})
    + (select count(*) from replacement_listing where ${ofCollection}) as listed`;
}

/** Columns: the number of ids with the traits, of those with the rarest of them, and whether they are near each other. */
function traitCounts(filter: TokensFilter): RawBuilder<unknown>[] {
  return [
    sql`coalesce((select sum(bit_count(bits)) from trait_chunk), 0)::bigint as ids`,
    sql`${rarestTraitCount(filter)} as rarest`,
    sql`
    (select coalesce(max(chunks), 0) from (
      select max(chunk) - min(chunk) as chunks from trait_chunk group by contract_id
    ) spans) < ${maxNearChunks} as are_near`,
  ];
}

/** Number of ids with the first trait of the filter, which is the rarest. */
function rarestTraitCount(filter: TokensFilter): RawBuilder<unknown> {
  const [keys = []] = filter.traitKeys ?? [];
  return sql`coalesce((
    select sum(v.tokens) from traits.trait v
    where v.contract_id = any (${contractsOf(filter)}) and v.trait_key = any (${keyArray(keys)}::uuid[])
  ), 0)::bigint`;
}

function matchingCount(filter: TokensFilter): RawBuilder<unknown> {
  if (namesTokens(filter)) return namedCount(filter, matchesListed(filter));
  const [all, listed] = isByTraitsOnly(filter)
    ? [sql`ids`, listedWithTraits(filter)]
    : [sql`tokens`, sql`listed`];
  if (filter.listed === null) return all;
  return filter.listed ? listed : sql`${all} - ${listed}`;
}

/** How many of the tokens with the traits are listed. */
function listedWithTraits(filter: TokensFilter): RawBuilder<unknown> {
  const among = (table: RawBuilder<unknown>, condition: RawBuilder<unknown>) => sql`(
    select count(*) from ${table} l
    join trait_chunk c on c.contract_id = l.contract_id and c.chunk = ${chunkOf(sql`l.token_id`)}
    where l.contract_id = any (${contractsOf(filter)}) and ${bitOf(sql`c.bits`, sql`l.token_id`)} = 1 and ${condition}
  )`;
  return sql`(
    ${among(sql`traits.listed_token`, hasNoEndedListing("l"))} + ${among(sql`replacement_listing`, sql`true`)}
  )`;
}
