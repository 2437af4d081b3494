import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../../sql/any-value.ts";
import { noBits } from "../../sql/token-bits.ts";
import { chunksHaving, runsOf } from "../traits/having.ts";
import { chosenTokens, familyOf, isNamed, isOfTraits, type TokensFilter } from "./filter.ts";
import { listedIs } from "./listed-now.ts";

/** Of ids that are near each other: a million in a row are 128 kB of bits. */
const mostChunks = sql.lit(1024);

/**
 * CTEs beside those of `listedNow`: `chosen`, the tokens that are named; `having_all`, bits of those that traits alone
 * tell, and `run`, the same for walks where ids are near each other (`are_near`); and `totals` of the whole family, with
 * the number of ids that have the traits, or the rarest of them, and of tokens that match.
 */
export function totalsOf(filter: TokensFilter): RawBuilder<unknown> {
  const family = sql`contract_id = any (${familyOf(filter)})`;
  const chunks = isOfTraits(filter)
    ? chunksHaving(filter.contractIds, filter.traitKeys ?? [])
    : sql`select 0 as contract_id, 0::numeric as chunk, ${noBits} as bits where false`;
  return sql`
    chosen as materialized (${chosenTokens(filter)}),
    having_all as materialized (${chunks}),
    totals as materialized (
      select *, ${matching(filter)} as matching from (
        select coalesce((select sum(tokens) from ownership.collection where ${family}), 0)::bigint as tokens,
               coalesce((select sum(listed) from traits.contract where ${family}), 0)::bigint
               - (select count(*) from traits.listed l join ended using (contract_id, token_id) where l.${family})
               + (select count(*) from relisted where ${family}) as listed,
               coalesce((select sum(bit_count(bits)) from having_all), 0)::bigint as ids,
               ${rarestOf(filter)} as rarest,
               (select coalesce(max(chunks), 0) from (
                 select max(chunk) - min(chunk) as chunks from having_all group by contract_id
               ) spans) < ${mostChunks} as are_near
      ) family
    ), run as materialized (${runsOf(sql`having_all`)})`;
}

/** How many ids have the trait that is asked for first, which is the rarest. */
function rarestOf(filter: TokensFilter): RawBuilder<unknown> {
  if (!isOfTraits(filter)) return sql`0::bigint`;
  const [keys = []] = filter.traitKeys ?? [];
  return sql`coalesce((
    select sum(v.tokens) from traits.value v
    where v.contract_id = any (${familyOf(filter)}) and v.trait_key = any (${anyValue(keys, "uuid[]")}::uuid[])
  ), 0)::bigint`;
}

/** null: of tokens with traits nobody asks how many there are. */
function matching(filter: TokensFilter): RawBuilder<unknown> {
  if (isNamed(filter)) return sql`(select count(*) from chosen t where ${listedIs(filter)})`;
  if (isOfTraits(filter)) return sql`null::bigint`;
  if (filter.listed === null) return sql`tokens`;
  return filter.listed ? sql`listed` : sql`tokens - listed`;
}
