import { type RawBuilder, sql } from "kysely";
import { anyValue } from "#projections/log/sql-values.ts";
import { traitTypeKey } from "#projections/traits/trait-keys.ts";

/** Most types of an answer, most entries of a type, and the entries after which no further type begins. */
const maxTypes = 100;
export const maxValuesOfType = 500;
const maxEntries = 2_000;
/** Most rows that a value is counted in, per contract: spellings of its type, as text or as a number. */
const maxSpellings = 16;

/** Place of a value among those of its type: floor (10^78: none), its first characters, `match_key`. */
export type ValuePlace = {
  readonly floor: bigint;
  readonly prefix: string;
  readonly matchKey: string;
};

/** Which part of a collection's traits: types after a key, or values of one type after a place. */
export type TraitsSlice =
  | { readonly afterTypeKey: string | null }
  | { readonly typeKey: string; readonly after: ValuePlace | null };

/** SQL: as indexed in `traits.trait`. */
const floorOf = (row: "v" | "s") => sql`coalesce(${sql.ref(`${row}.floor_wei`)}, 1e78::numeric)`;
const prefixOfValue = sql`left(v.value, 32)`;

/**
 * CTEs `page_type` (`is_beyond`: a type that the page has no more room for), `entry` (rows of `traits.trait` in the
 * order of their type, one more than a page holds), and `own`, the rows of the values shown. What is read is bounded,
 * whatever the contracts hold: each step is a range of an index.
 */
export function pageValues(contractIds: readonly number[], slice: TraitsSlice) {
  const contracts = sql`unnest(${anyValue(contractIds, "int[]")}::int[]) k (contract_id)`;
  const after = "typeKey" in slice ? slice.after : null;
  return sql`
    page_type (n, type_key, is_beyond, entries) as (${
      "typeKey" in slice ? oneType(contracts, slice.typeKey) : typesAfter(contracts, slice)
    }),
    entry as materialized (
      select p.type_key, e.*,
             row_number() over (partition by p.n order by e.floor, e.prefix, e.match_key) as row_number
      from page_type p cross join ${contracts}
      cross join lateral (
        select v.match_key, ${floorOf("v")} as floor, ${prefixOfValue} as prefix from traits.trait v
        where v.contract_id = k.contract_id and v.type_key = p.type_key and v.live > 0 and ${isAfter(after)}
        order by ${floorOf("v")}, ${prefixOfValue}, v.match_key limit ${maxValuesOfType + 1}
      ) e
      where p.n > 0 and not p.is_beyond
    ), shown as materialized (
      select * from (
        select match_key, min(floor) as floor from entry where row_number <= ${maxValuesOfType} group by match_key
      ) shown
      where ${after === null ? sql`true` : wasNotShown(contracts)}
    ), own_trait as materialized (
      select v.* from shown cross join ${contracts}
      cross join lateral (
        select v.* from traits.trait v
        where v.contract_id = k.contract_id and v.match_key = shown.match_key
        order by ${floorOf("v")} limit ${maxSpellings}
      ) v
      where v.live > 0
    )`;
}

function isAfter(after: ValuePlace | null): RawBuilder<unknown> {
  if (after === null) return sql`true`;
  const { floor, prefix, matchKey } = after;
  return sql`(${floorOf("v")}, ${prefixOfValue}, v.match_key)
    > (${anyValue(String(floor), "numeric")}, ${anyValue(prefix, "text")}, ${anyValue(matchKey, "uuid")})`;
}

/** SQL: whether no cheaper row of the value was on an earlier page. */
function wasNotShown(contracts: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`not exists (
    select from ${contracts} cross join lateral (
      select from traits.trait s
      where s.contract_id = k.contract_id and s.match_key = shown.match_key and s.live > 0
        and ${floorOf("s")} < shown.floor
      limit 1
    ) cheaper
  )`;
}

/** `typeKey`: also the type in any spelling. */
function oneType(contracts: RawBuilder<unknown>, typeKey: string): RawBuilder<unknown> {
  const type = sql`(select ${traitTypeKey(anyValue(typeKey, "text"))})`;
  return sql`
    select 1, ${type}, false, 0::bigint
    where exists (
      select from ${contracts} cross join lateral (
        select from traits.trait v
        where v.contract_id = k.contract_id and v.type_key = ${type} and v.live > 0 and not v.is_numeric limit 1
      ) named
    )`;
}

/** Goes from type to type by index; types with only numeric values are not in it. */
function typesAfter(
  contracts: RawBuilder<unknown>,
  { afterTypeKey }: { afterTypeKey: string | null },
): RawBuilder<unknown> {
  return sql`
    select 0, ${anyValue(afterTypeKey ?? "", "text")}, false, 0::bigint
    union all
    select p.n + 1, next.type_key, p.n >= ${maxTypes} or p.entries >= ${maxEntries}, p.entries + held.entries
    from page_type p
    cross join lateral (
      select min(first.type_key) as type_key from ${contracts}
      cross join lateral (
        select v.type_key from traits.trait v
        where v.contract_id = k.contract_id and v.type_key > p.type_key and v.live > 0 and not v.is_numeric
        order by v.type_key limit 1
      ) first
    ) next
    cross join lateral (
      select count(*) as entries from ${contracts}
      cross join lateral (
        select from traits.trait v
        where v.contract_id = k.contract_id and v.type_key = next.type_key and v.live > 0
        limit ${maxValuesOfType + 1}
      ) row
    ) held
    where not p.is_beyond and next.type_key is not null`;
}
