import { type RawBuilder, sql } from "kysely";
import { anyValue } from "#projections/log/sql-values.ts";
import { hasNoEndedListing } from "../traits/current-listings.ts";
import { keyArray } from "../traits/token-bitmaps.ts";
import { idsWithTraits, type RowsAfter, type Source } from "./access-path.ts";
import { contractsOf, isByTraitsOnly, matchesTraits, type TokenKey, type TokensFilter } from "./filter.ts";

/** SQL: `asc` and `>`, or `desc` and `<`. */
export type Direction = { order: RawBuilder<unknown>; comparison: RawBuilder<unknown> };

type ListedOrder = { direction: Direction; byTime: boolean };

const priceColumns = sql`l.contract_id, l.token_id, l.standard, l.unit_price_wei as value`;
const timeColumns = sql`
  l.contract_id, l.token_id, l.standard, (extract(epoch from l.listed_at) * 1000000)::bigint::numeric as value`;

/** Listed tokens by price or by time of listing, with replacements of listings that have ended. */
export function listedTokens(filter: TokensFilter, source: Source, order: ListedOrder): RowsAfter {
  const columns = order.byTime ? timeColumns : priceColumns;
  const isMatch =
    source === "named"
      ? sql`(l.contract_id, l.token_id, l.standard) in (select * from named_token)`
      : sql`l.contract_id = any (${contractsOf(filter)}) and ${matchesTraits(filter, "l")}`;
  return (after, limit) => {
    const cursor = cursorConditions(after, order);
    return sql`
      ${listedSource(filter, source, order, { ...cursor, limit })}
      union all
      select ${columns} from replacement_listing l where ${isMatch} and ${cursor.after}`;
  };
}

function listedSource(
  filter: TokensFilter,
  source: Source,
  order: ListedOrder,
  slice: Slice,
): RawBuilder<unknown> {
  if (source === "scan") {
    const scan = isByTraitsOnly(filter) && !order.byTime ? scanListedOfTrait : scanListed;
    return scan(filter, order, slice);
  }
  const [candidates, isSame] =
    source === "named"
      ? [sql`named_token`, sql`and l.standard = c.standard`]
      : [idsWithTraits, sql``];
  return sql`
    select l.* from ${candidates} c cross join lateral (
      select ${order.byTime ? timeColumns : priceColumns} from traits.listed_token l
      where l.contract_id = c.contract_id and l.token_id = c.token_id ${isSame} and ${hasNoEndedListing("l")}
        and ${slice.after}
      offset 0
    ) l`;
}

type Slice = Record<"after" | "from" | "limit", RawBuilder<unknown>>;

/** Scans the listed tokens of each contract. */
function scanListed(
  filter: TokensFilter,
  { direction: { order }, byTime }: ListedOrder,
  { after, limit }: Slice,
): RawBuilder<unknown> {
  return sql`
    select l.* from unnest(${contractsOf(filter)}) contract (contract_id) cross join lateral (
      select ${byTime ? timeColumns : priceColumns} from traits.listed_token l
      where l.contract_id = contract.contract_id and ${hasNoEndedListing("l")} and ${after} and ${matchesTraits(filter, "l")}
      order by ${columnOf(byTime)} ${order}, l.token_id ${order} limit ${limit}
    ) l`;
}

/**
 * Scans the listed tokens with the rarest trait, of each contract and key: a token has one of the keys. The standard is
 * looked up for the page's tokens only, and for the token at the cursor, which may have both.
 */
function scanListedOfTrait(
  filter: TokensFilter,
  { direction: { order } }: ListedOrder,
  { after, from, limit }: Slice,
): RawBuilder<unknown> {
  const [keys = []] = filter.traitKeys ?? [];
  return sql`
    select l.contract_id, l.token_id, l.standard, l.unit_price_wei as value
    from unnest(${contractsOf(filter)}) contract (contract_id)
    cross join unnest(${keyArray(keys)}) rarest (trait_key)
    cross join lateral (
      select l.* from traits.listed_token_trait l
      where l.contract_id = contract.contract_id and l.trait_key = rarest.trait_key and ${hasNoEndedListing("l")}
        and ${from} and ${matchesTraits(filter, "l", 1)}
      order by l.unit_price_wei ${order}, l.token_id ${order} limit ${limit} + 1
    ) listed_trait
    cross join lateral (
      select l.* from traits.listed_token l
      where l.contract_id = listed_trait.contract_id and l.token_id = listed_trait.token_id and ${after} offset 0
    ) l`;
}

const columnOf = (byTime: boolean) => (byTime ? sql`l.listed_at` : sql`l.unit_price_wei`);

/** SQL conditions on rows `l`: after the cursor; `from`: in any standard, with the token at the cursor itself. */
function cursorConditions(
  after: TokenKey | null,
  { direction: { comparison }, byTime }: ListedOrder,
): Pick<Slice, "after" | "from"> {
  if (after === null) return { after: sql`true`, from: sql`true` };
  const { value, tokenId, contractId, standard } = after;
  const bound = byTime
    ? sql`(timestamptz 'epoch' + ${anyValue(Number(value), "float8")} * interval '1 microsecond')`
    : anyValue(String(value), "numeric");
  const columns = sql`${columnOf(byTime)}, l.token_id, l.contract_id`;
  const position = sql`${bound}, ${anyValue(String(tokenId), "numeric")}, ${anyValue(contractId, "int")}`;
  return {
    after: sql`(${columns}, l.standard) ${comparison} (${position}, ${anyValue(standard, "smallint")})`,
    from: sql`(${columns}) ${comparison}= (${position})`,
  };
}
