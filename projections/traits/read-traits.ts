import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { ListingMarketplace } from "../domain/marketplaces.ts";
import { assertFoldable } from "../engine/fold-budget.ts";
import { traitTypeKey } from "../engine/trait-keys.ts";
import type { Database } from "../log/database.ts";
import { anyValue } from "../log/sql-values.ts";
import { currentListings } from "./read-current-listings.ts";

/** A value of a trait in a collection. */
export type TraitRow = {
  value: string;
  /** Token ids that are not burned. */
  count: bigint;
  listed: bigint;
  /** Unit price of the cheapest active listing of its tokens. */
  floorWei: bigint | null;
  orderHash: Hex | null;
  marketplace: ListingMarketplace | null;
};

type Row = { [Field in keyof TraitRow]: TraitRow[Field] | null } & {
  type: string;
  typeKey: string;
  isBeyond: boolean;
  lastFloor: bigint | null;
  lastPrefix: string | null;
  lastKey: string | null;
};

/** A type and the values of it on the page; `next`: the last of them, when more follow. */
export type TraitTypeRows = {
  readonly typeKey: string;
  /** As most tokens with the values shown spell it. */
  readonly type: string;
  readonly values: readonly TraitRow[];
  readonly next: ValuePlace | null;
};

/** A part of a collection's traits. `nextTypeKey`: the last type, when more types follow. */
type TraitsPart = {
  readonly types: readonly TraitTypeRows[];
  readonly nextTypeKey: string | null;
};

/**
 * Traits of a collection's tokens, type by type, each value by floor price. Types with only numeric values are left
 * out. Which values a page has is decided by floors as of the last `clock_ticked`.
 */
export async function readTraits(
  db: Database,
  contractIds: readonly number[],
  now: Date,
  slice: TraitsSlice,
  past?: PastTraits,
): Promise<TraitsPart> {
  const traits = past?.traits ?? sql`traits.trait`;
  const ofCollection = sql`contract_id = any (${anyValue(contractIds, "int[]")}::int[])`;
  const { rows } = await sql<Row & { folded: number }>`
    with recursive ${past?.ctes ?? currentListings(now)}, ${pageValues(contractIds, slice, traits)},
    listed_delta as materialized (
      select contract_id, u.trait_key, sum(by)::bigint as by
      from (
        select l.contract_id, l.token_id, -1 as by from expired_token join traits.listed_token l using (contract_id, token_id)
        union all
        select contract_id, token_id, 1 from replacement_listing
      ) leg
      join traits.token t using (contract_id, token_id) cross join unnest(t.trait_keys) u (trait_key)
      where ${ofCollection} group by contract_id, u.trait_key
    ), own as materialized (
      select v.contract_id, v.trait_key, v.type_key, v.type, v.value, v.live,
             v.listed + coalesce(c.by, 0) as listed, v.floor_wei, v.floor_position, v.floor_token,
             c.trait_key is not null as is_changed
      from own_trait v left join listed_delta c using (contract_id, trait_key)
    ), typed as materialized (
      select distinct on (type_key) type_key, type
      from (select type_key, type, sum(live) as live from own group by type_key, type) spelling
      order by type_key, live desc, type
    ), replacement_trait as materialized (
      select distinct on (r.contract_id, u.trait_key) r.contract_id, u.trait_key, r.unit_price_wei, r.position, r.token_id
      from replacement_listing r join traits.token t using (contract_id, token_id) cross join unnest(t.trait_keys) u (trait_key)
      where r.${ofCollection} order by r.contract_id, u.trait_key, r.unit_price_wei, r.position
    ), with_floor as materialized (
      select own.*, floor_wei as unit_price_wei, floor_position as position, floor_token as token_id
      from own where not is_changed
      union all
      select own.*, floor.*
      from own left join lateral (
        select * from (
          (select l.unit_price_wei, l.position, l.token_id from traits.listed_token_trait l
           where l.contract_id = own.contract_id and l.trait_key = own.trait_key
             and not exists (
               select from expired_token e where e.contract_id = l.contract_id and e.token_id = l.token_id
             )
           order by l.unit_price_wei, l.position limit 1)
          union all
          select a.unit_price_wei, a.position, a.token_id
          from replacement_trait a where a.contract_id = own.contract_id and a.trait_key = own.trait_key
        ) now order by unit_price_wei, position limit 1
      ) floor on true
      where is_changed
    ), floor_listing as materialized (
      ${listingsOf(sql`(select distinct contract_id, token_id, unit_price_wei, position from with_floor where token_id is not null)`, past?.listings ?? sql`listings.listing`)}
    ), floored as (
      select with_floor.*, floor_listing.order_hash, floor_listing.marketplace
      from with_floor left join floor_listing using (contract_id, token_id)
    )
    select p.type_key as "typeKey", p.is_beyond as "isBeyond", coalesce(typed.type, p.type_key) as type,
           valued.value, valued.count, valued.listed, valued."floorWei", valued."orderHash", valued.marketplace,
           last.floor as "lastFloor", last.prefix as "lastPrefix", last.match_key as "lastKey", counted.folded
    from (select ${past?.folded ?? sql`0`} as folded) counted left join page_type p on p.n > 0
    left join entry last on last.type_key = p.type_key and last.row_number = ${maxValuesOfType} and exists (
      select from entry more where more.type_key = p.type_key and more.row_number = ${maxValuesOfType + 1}
    )
    left join typed on typed.type_key = p.type_key
    left join (
      select f.type_key, f.value, sum(f.live)::bigint as count, sum(f.listed)::bigint as listed,
             min(f.unit_price_wei) as "floorWei", (${cheapest(sql`f.order_hash`)})[1] as "orderHash",
             (${cheapest(sql`f.marketplace`)})[1] as marketplace
      from floored f group by f.type_key, f.value
    ) valued on valued.type_key = p.type_key
    order by p.n, valued."floorWei" nulls last, valued.value`.execute(db);
  assertFoldable(rows[0]?.folded ?? 0);
  return partOf(rows.flatMap(({ folded, ...row }) => (row.typeKey === null ? [] : [row])));
}

/** Traits of another time than the tables': rows like those of `traits.trait` and `listings.listing`, and how many were folded. */
export type PastTraits = {
  readonly ctes: RawBuilder<unknown>;
  readonly traits: RawBuilder<unknown>;
  readonly listings: RawBuilder<unknown>;
  readonly folded: RawBuilder<number>;
};

/** Rows of one type follow each other. */
function partOf(rows: readonly Row[]): TraitsPart {
  const types: (TraitTypeRows & { values: TraitRow[] })[] = [];
  for (const row of rows) {
    if (row.isBeyond) return { types, nextTypeKey: types.at(-1)?.typeKey ?? null };
    const {
      typeKey,
      type,
      lastFloor: floor,
      lastPrefix: prefix,
      lastKey: matchKey,
      ...value
    } = row;
    const isTold = types.at(-1)?.typeKey === typeKey;
    const next =
      floor === null || prefix === null || matchKey === null ? null : { floor, prefix, matchKey };
    if (!isTold) types.push({ typeKey, type, values: [], next });
    if (value.value !== null) types.at(-1)?.values.push(value as TraitRow);
  }
  return { types, nextTypeKey: null };
}

/** The listings behind the floors, one index lookup each: a listing may be the floor of many traits. */
function listingsOf(
  floors: RawBuilder<unknown>,
  listings: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select f.contract_id, f.token_id, o.order_hash, o.marketplace
    from ${floors} f cross join lateral (
      select o.order_hash, o.marketplace from ${listings} o
      where o.contract_id = f.contract_id and o.token_id = f.token_id and o.status = 'active'
        and o.unit_price_wei = f.unit_price_wei and o.position = f.position
      limit 1
    ) o`;
}

/** The value of the cheapest of the contracts' floors. */
function cheapest(column: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    array_agg(${column} order by f.unit_price_wei, f.position) filter (where f.order_hash is not null)`;
}

/** Most types of an answer, most entries of a type, and the entries after which no further type begins. */
const maxTypes = 100;
export const maxValuesOfType = 500;
const maxEntries = 2_000;
/** Most rows that a value is counted in, per contract: spellings of its type, as text or as a number. */
const maxSpellings = 16;

/** Place of a value among those of its type: floor (10^78: none), its first characters, `match_key`. */
type ValuePlace = {
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
function pageValues(
  contractIds: readonly number[],
  slice: TraitsSlice,
  traits: RawBuilder<unknown>,
) {
  const contracts = sql`unnest(${anyValue(contractIds, "int[]")}::int[]) k (contract_id)`;
  const after = "typeKey" in slice ? slice.after : null;
  return sql`
    page_type (n, type_key, is_beyond, entries) as (${
      "typeKey" in slice
        ? oneType(contracts, slice.typeKey, traits)
        : typesAfter(contracts, slice, traits)
    }),
    entry as materialized (
      select p.type_key, e.*,
             row_number() over (partition by p.n order by e.floor, e.prefix, e.match_key) as row_number
      from page_type p cross join ${contracts}
      cross join lateral (
        select v.match_key, ${floorOf("v")} as floor, ${prefixOfValue} as prefix from ${traits} v
        where v.contract_id = k.contract_id and v.type_key = p.type_key and v.live > 0 and ${isAfter(after)}
        order by ${floorOf("v")}, ${prefixOfValue}, v.match_key limit ${maxValuesOfType + 1}
      ) e
      where p.n > 0 and not p.is_beyond
    ), shown as materialized (
      select * from (
        select match_key, min(floor) as floor from entry where row_number <= ${maxValuesOfType} group by match_key
      ) shown
      where ${after === null ? sql`true` : wasNotShown(contracts, traits)}
    ), own_trait as materialized (
      select v.* from shown cross join ${contracts}
      cross join lateral (
        select v.* from ${traits} v
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
function wasNotShown(
  contracts: RawBuilder<unknown>,
  traits: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`not exists (
    select from ${contracts} cross join lateral (
      select from ${traits} s
      where s.contract_id = k.contract_id and s.match_key = shown.match_key and s.live > 0
        and ${floorOf("s")} < shown.floor
      limit 1
    ) cheaper
  )`;
}

/** `typeKey`: also the type in any spelling. */
function oneType(
  contracts: RawBuilder<unknown>,
  typeKey: string,
  traits: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const type = sql`(select ${traitTypeKey(anyValue(typeKey, "text"))})`;
  return sql`
    select 1, ${type}, false, 0::bigint
    where exists (
      select from ${contracts} cross join lateral (
        select from ${traits} v
        where v.contract_id = k.contract_id and v.type_key = ${type} and v.live > 0 and not v.is_numeric limit 1
      ) named
    )`;
}

/** Goes from type to type by index; types with only numeric values are not in it. */
function typesAfter(
  contracts: RawBuilder<unknown>,
  { afterTypeKey }: { afterTypeKey: string | null },
  traits: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select 0, ${anyValue(afterTypeKey ?? "", "text")}, false, 0::bigint
    union all
    select p.n + 1, next.type_key, p.n >= ${maxTypes} or p.entries >= ${maxEntries}, p.entries + held.entries
    from page_type p
    cross join lateral (
      select min(first.type_key) as type_key from ${contracts}
      cross join lateral (
        select v.type_key from ${traits} v
        where v.contract_id = k.contract_id and v.type_key > p.type_key and v.live > 0 and not v.is_numeric
        order by v.type_key limit 1
      ) first
    ) next
    cross join lateral (
      select count(*) as entries from ${contracts}
      cross join lateral (
        select from ${traits} v
        where v.contract_id = k.contract_id and v.type_key = next.type_key and v.live > 0
        limit ${maxValuesOfType + 1}
      ) row
    ) held
    where not p.is_beyond and next.type_key is not null`;
}
