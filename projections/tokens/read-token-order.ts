import { type RawBuilder, sql } from "kysely";
import { idsOfContract, rangeAt, tokensAt } from "../engine/token-ids.ts";
import { anyValue } from "../log/sql-values.ts";
import { hasNoEndedListing, matchesListed } from "../traits/read-current-listings.ts";
import { keyArray } from "../traits/read-tokens-with-traits.ts";
import {
  contractsOf,
  idsWithTraits,
  isByTraitsOnly,
  matchesTraits,
  type RowSource,
  type RowsAfter,
  type TokenKey,
  type TokensFilter,
} from "./read-token-filter.ts";

/** SQL: `asc` and `>`, or `desc` and `<`. */
export type Direction = { order: RawBuilder<unknown>; comparison: RawBuilder<unknown> };

type ListedOrder = { direction: Direction; byTime: boolean };

const priceColumns = sql`l.contract_id, l.token_id, l.standard, l.unit_price_wei as value`;
const timeColumns = sql`
  l.contract_id, l.token_id, l.standard, (extract(epoch from l.listed_at) * 1000000)::bigint::numeric as value`;

/** Listed tokens by price or by time of listing, with replacements of listings that have ended. */
export function listedTokens(
  filter: TokensFilter,
  source: RowSource,
  order: ListedOrder,
): RowsAfter {
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
  source: RowSource,
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

const rankedColumns = sql`t.contract_id, t.token_id, t.standard, r.rank::numeric as value`;

/** SQL: the rank of token `t` in the collection. */
export function rankOf(filter: TokensFilter): RawBuilder<unknown> {
  return sql`
    select r.rank from rarity.token r
    where r.contract_id = t.contract_id and r.token_id = t.token_id and r.collection_id = ${ofCollection(filter)}
    offset 0`;
}

/** Tokens by rank. */
export function rankedTokens(filter: TokensFilter, source: RowSource): RowsAfter {
  return (after, limit) => {
    const rowCondition = sql`r.collection_id = ${ofCollection(filter)} and ${fromCursorRank(after)}`;
    if (source === "named") {
      return sql`
        select ${rankedColumns} from named_token t join rarity.token r using (contract_id, token_id)
        where ${rowCondition} and ${afterRankedCursor(after)} and ${matchesListed(filter)}`;
    }
    const ranks =
      source === "bitmap"
        ? sql`
          select r.* from ${idsWithTraits} h cross join lateral (
            select r.rank, r.token_id, r.contract_id from rarity.token r
            where r.contract_id = h.contract_id and r.token_id = h.token_id and ${rowCondition} offset 0
          ) r`
        : sql`
          select r.rank, r.token_id, r.contract_id from rarity.token r
          where ${rowCondition} and r.contract_id = any (${contractsOf(filter)}) and ${matchesTraits(filter, "r")}`;
    return sql`
      select t.* from (${ranks} order by r.rank, r.token_id, r.contract_id offset 0) r cross join lateral (
        select ${rankedColumns} from ${tokensAt(sql`r.contract_id`, sql`r.token_id`)} t
        where ${afterRankedCursor(after)} and ${matchesListed(filter)}
        offset 0
      ) t
      order by r.rank, r.token_id, r.contract_id, t.standard limit ${limit}`;
  };
}

/** Listed tokens by rank: all are looked up and sorted. */
export function rankedOfListed(filter: TokensFilter): RowsAfter {
  return (after) => sql`
    select ${rankedColumns} from (
      select l.contract_id, l.token_id, l.standard from traits.listed_token l where ${hasNoEndedListing("l")}
      union all
      select l.contract_id, l.token_id, l.standard from replacement_listing l
    ) t join rarity.token r using (contract_id, token_id)
    where t.contract_id = any (${contractsOf(filter)}) and r.collection_id = ${ofCollection(filter)}
      and ${fromCursorRank(after)} and ${afterRankedCursor(after)}`;
}

function ofCollection({ collectionId }: TokensFilter): RawBuilder<unknown> {
  return anyValue(collectionId, "int");
}

/** Served by an index. The cursor's own id is included: its other standard may follow. */
function fromCursorRank(after: TokenKey | null): RawBuilder<unknown> {
  return after === null
    ? sql`true`
    : sql`(r.rank, r.token_id, r.contract_id) >= (${cursorOf(after)})`;
}

function afterRankedCursor(after: TokenKey | null): RawBuilder<unknown> {
  if (after === null) return sql`true`;
  return sql`
    (r.rank, r.token_id, r.contract_id, t.standard)
    > (${cursorOf(after)}, ${anyValue(after.standard, "smallint")})`;
}

function cursorOf({ value, tokenId, contractId }: TokenKey): RawBuilder<unknown> {
  const [rank, id] = [anyValue(Number(value), "int"), anyValue(String(tokenId), "numeric")];
  return sql`${rank}, ${id}, ${anyValue(contractId, "int")}`;
}

const columnsById = sql`t.contract_id, t.token_id, t.standard, 0::numeric as value`;

/** Tokens by id that meet a condition on `t`. */
export function tokensById(
  filter: TokensFilter,
  source: RowSource,
  condition: RawBuilder<unknown>,
): RowsAfter {
  return (after, limit) => {
    const rowCondition = sql`${afterIdCursor(after)} and ${condition}`;
    if (source === "named")
      return sql`select ${columnsById} from named_token t where ${rowCondition}`;
    if (source === "bitmap") return withTraitsById(rowCondition, after, limit);
    return sql`
      select t.* from unnest(${contractsOf(filter)}) contract (contract_id) cross join lateral (
        (select ${columnsById} from ownership.token t
         where t.contract_id = contract.contract_id and ${rowCondition} and ${matchesTraits(filter, "t")}
         order by t.token_id, t.standard limit ${limit})
        union all
        (select ${columnsById} from ${idsInRanges(filter, after)} t
         where ${rowCondition} and ${matchesTraits(filter, "t")} limit ${limit})
      ) t`;
  };
}

/** SQL: the ids of `contract` in ranges by id; those with a trait among the tokens that have one, not among all. */
function idsInRanges(filter: TokensFilter, after: TokenKey | null): RawBuilder<unknown> {
  const contractId = sql`contract.contract_id`;
  const from = numeric(after?.tokenId ?? 0n);
  if (!isByTraitsOnly(filter)) return idsOfContract(contractId, from);
  return sql`(
    select x.contract_id, x.token_id, 721::smallint as standard from (
      select x.contract_id, x.token_id from traits.token x
      where x.contract_id = ${contractId} and x.token_id >= ${from} order by x.token_id offset 0
    ) x
    where exists (${rangeAt(contractId, sql`x.token_id`)})
  )`;
}

/** Listed tokens by id, from the index of each contract. */
export function listedById(filter: TokensFilter, condition: RawBuilder<unknown>): RowsAfter {
  return (after, limit) => {
    const rowCondition = sql`${afterIdCursor(after)} and ${condition} and ${matchesTraits(filter, "t")}`;
    return sql`
      select t.* from unnest(${contractsOf(filter)}) contract (contract_id) cross join lateral (
        select ${columnsById} from traits.listed_token t
        where t.contract_id = contract.contract_id and ${rowCondition} and ${hasNoEndedListing("t")}
        order by t.token_id limit ${limit}
      ) t
      union all
      select ${columnsById} from replacement_listing t where t.contract_id = any (${contractsOf(filter)}) and ${rowCondition}`;
  };
}

function withTraitsById(
  rowCondition: RawBuilder<unknown>,
  after: TokenKey | null,
  limit: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const fromCursor =
    after === null
      ? sql`true`
      : sql`(h.token_id, h.contract_id) >= (${numeric(after.tokenId)}, ${anyValue(after.contractId, "int")})`;
  return sql`
    select t.* from (
      select h.* from ${idsWithTraits} h where ${fromCursor} order by h.token_id, h.contract_id offset 0
    ) h cross join lateral (
      select ${columnsById} from ${tokensAt(sql`h.contract_id`, sql`h.token_id`)} t
      where ${rowCondition} offset 0
    ) t
    order by h.token_id, h.contract_id, t.standard limit ${limit}`;
}

function afterIdCursor(after: TokenKey | null): RawBuilder<unknown> {
  if (after === null) return sql`true`;
  const { tokenId, contractId, standard } = after;
  return sql`
    (t.token_id, t.contract_id, t.standard)
    > (${numeric(tokenId)}, ${anyValue(contractId, "int")}, ${anyValue(standard, "smallint")})`;
}

function numeric(value: bigint): RawBuilder<unknown> {
  return anyValue(String(value), "numeric");
}
