import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { rangeAt, type TokenPlace, tokensIn, unfoldRanges } from "../engine/token-ids.ts";
import { anyValue } from "../log/sql-values.ts";
import { hasTraits, isInBitRun, type TraitKeys } from "../traits/read-tokens-with-traits.ts";

export const tokenSorts = [
  "token_id",
  "price_asc",
  "price_desc",
  "rarity",
  "recently_listed",
] as const;
export type TokenSort = (typeof tokenSorts)[number];

export type TokensFilter = {
  collectionId: number;
  /** All contracts of the collection. */
  contractIds: readonly number[];
  /** null: any. */
  listed: boolean | null;
  tokenIds: readonly bigint[] | null;
  /** Who holds the token, or units of it. */
  owner: Hex | null;
  /** For each trait that the token must have, its keys, one of which it must have; absent: any traits. */
  traitKeys?: TraitKeys;
};

/** A token with its standard: in one contract an id may exist in both. */
export type StandardToken = TokenPlace & { standard: 721 | 1155 };

/**
 * Position in a sorted list: tokens that have the value sorted by come first (part 0), the others by id (part 1).
 * `value` is wei, microseconds or a rank.
 */
export type TokenKey = StandardToken & { part: number; value: bigint };

/** Whether the filter names tokens by id or owner: they are few and are looked up first. */
export function namesTokens({ tokenIds, owner }: TokensFilter): boolean {
  return tokenIds !== null || owner !== null;
}

/** Whether tokens are filtered by traits and not named. */
export function isByTraitsOnly(filter: TokensFilter): boolean {
  return !namesTokens(filter) && (filter.traitKeys ?? []).length > 0;
}

/** SQL: the contracts' ids, for `any`. */
export function contractsOf({ contractIds }: TokensFilter): RawBuilder<unknown> {
  return sql`${anyValue(contractIds, "int[]")}::int[]`;
}

/** SQL: whether the token of a scanned row has the traits, apart from the first `known` ones. */
export function matchesTraits(
  filter: TokensFilter,
  row: "t" | "l" | "r",
  known = 0,
): RawBuilder<unknown> {
  const others = (filter.traitKeys ?? []).slice(known);
  if (!isByTraitsOnly(filter) || others.length === 0) return sql`true`;
  return sql`
    case when (select are_near from totals) then ${isInBitRun(row, filter.contractIds)} else ${hasTraits(row, others)} end`;
}

/** SQL of the rows after a cursor: at least the first `limit` of each contract. */
export type RowsAfter = (after: TokenKey | null, limit: RawBuilder<unknown>) => RawBuilder<unknown>;

/**
 * Where a list's tokens come from: `scan` reads an index in the list's order, `named` looks up the tokens named by the
 * filter, and `bitmap` takes the ids with the traits from bitmaps and looks them up in order, as far as the page needs.
 */
export type RowSource = "scan" | "named" | "bitmap";

/** A way to read the rows, used where `when` holds; absent: always. */
export type AccessPath = { source: RowSource; when?: RawBuilder<unknown> };

/** Where many tokens have the traits, an index scan that checks each token finds a page of them sooner. */
export function accessPaths(
  filter: TokensFilter,
  sort: TokenSort,
  limit: RawBuilder<unknown>,
): AccessPath[] {
  if (namesTokens(filter)) return [{ source: "named" }];
  if (!isByTraitsOnly(filter)) return [{ source: "scan" }];
  const { near, far, tokens } = scanCost[sort];
  const areFew = sql`(
    select ids * ids <= case when are_near then ${near} else ${far} end * ${limit} * ${tokens} from totals
  )`;
  return [
    { source: "bitmap", when: areFew },
    { source: "scan", when: sql`not ${areFew}` },
  ];
}

/**
 * Rows that a scan may read for what sorting the ids costs; `near`: where all bits of a contract are in one string.
 * `tokens`: whether it reads all tokens or those with the rarest trait. By rank, tokens with common traits come late; a
 * price has to be looked up before it can be sorted by.
 */
const byPrice = { near: sql.lit(0.05), far: sql.lit(1), tokens: sql`rarest` };
const scanCost = {
  token_id: { near: sql.lit(0.08), far: sql.lit(3), tokens: sql`tokens` },
  price_asc: byPrice,
  price_desc: byPrice,
  recently_listed: { near: sql.lit(0.08), far: sql.lit(1), tokens: sql`tokens` },
  rarity: { near: sql.lit(0.2), far: sql.lit(9), tokens: sql`tokens` },
};

/** Rows `(contract_id, token_id)` of the ids with the traits; not every id is an existing token. */
export const idsWithTraits = sql`(${tokensIn(sql`trait_chunk`)})`;

/** Ids of an owner's ranges in a collection that one page looks at, from its cursor on, besides those listed. */
const MOST_UNFOLDED = sql.lit(50_000);

const noTokens = sql`select 0 as contract_id, 0::numeric as token_id, 0::smallint as standard where false`;

/** SQL: rows `(contract_id, token_id, standard)` of the tokens that a filter with ids or an owner names, listed or not. */
export function namedTokens(filter: TokensFilter, after: TokenKey | null): RawBuilder<unknown> {
  const { tokenIds, owner, traitKeys = [] } = filter;
  const ids = tokenIds === null ? null : anyValue(tokenIds.map(String), "numeric[]");
  const ofIds = ids === null ? sql`` : sql`and t.token_id = any (${ids}::numeric[])`;
  const ofOwner =
    owner === null ? sql`` : sql`and t.owner = ${bytesOf(owner)} and t.standard = 721`;
  const wanted = sql`
    t.contract_id = any (${contractsOf(filter)}) ${ofIds} and ${hasTraits("t", traitKeys)}`;
  const unitsOfOwner =
    owner === null
      ? noTokens
      : sql`
        select t.contract_id, t.token_id, 1155::smallint from ownership.balance t
        where t.owner = ${bytesOf(owner)} and t.units > 0 and ${wanted}`;
  return sql`
    select t.contract_id, t.token_id, t.standard from ownership.token t
    where ${wanted} ${ofOwner}
    union all
    ${unitsOfOwner}
    union all
    select t.contract_id, t.token_id, 721::smallint from ${inRanges(filter, ids, after)} t
    where ${hasTraits("t", traitKeys)}`;
}

function inRanges(
  filter: TokensFilter,
  ids: RawBuilder<unknown> | null,
  after: TokenKey | null,
): RawBuilder<unknown> {
  const { owner, traitKeys = [] } = filter;
  const ofOwner = owner === null ? sql`true` : sql`r.owner = ${bytesOf(owner)}`;
  if (ids !== null) {
    return sql`(
      select contract.contract_id, one.token_id
      from unnest(${contractsOf(filter)}) contract (contract_id) cross join unnest(${ids}) one (token_id)
      cross join lateral (${rangeAt(sql`contract.contract_id`, sql`one.token_id`)}) r where ${ofOwner}
    )`;
  }
  const known = (table: RawBuilder<unknown>) => sql`
    select x.contract_id, x.token_id from ownership.token_range r
    join ${table} x on x.contract_id = r.contract_id and x.token_id >= r.first_id and x.token_id <= r.last_id
    where ${ofOwner} and r.contract_id = any (${contractsOf(filter)})`;
  if (traitKeys.length > 0) return sql`(${known(sql`traits.token`)})`;
  const from = anyValue(String(after?.part === 1 ? after.tokenId : 0n), "numeric");
  const ranges = sql`
    select * from ownership.token_range r
    where ${ofOwner} and r.contract_id = contract.contract_id and r.last_id >= ${from} order by r.first_id`;
  return sql`(
    select i.contract_id, i.token_id from unnest(${contractsOf(filter)}) contract (contract_id) cross join lateral (
      select contract_id, token_id from ${unfoldRanges({ ranges, from })} i limit ${MOST_UNFOLDED}
    ) i
    union
    ${known(sql`(select contract_id, token_id from traits.listed_token union all select contract_id, token_id from replacement_listing)`)}
  )`;
}

/** SQL: how many tokens a filter names. Those of an owner without other conditions are counted by ranges, all of them. */
export function namedCount(
  filter: TokensFilter,
  matches: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { owner, tokenIds, traitKeys = [], listed } = filter;
  const counted = sql`(select count(*) from named_token t where ${matches})`;
  if (owner === null || tokenIds !== null || traitKeys.length > 0 || listed === true)
    return counted;
  const inContracts = sql`contract_id = any (${contractsOf(filter)})`;
  const ranged = sql`
    (select coalesce(sum(last_id - first_id + 1), 0) from ownership.token_range where owner = ${bytesOf(owner)} and ${inContracts})`;
  const own = sql`
    (select count(*) from ownership.token t where t.owner = ${bytesOf(owner)} and t.standard = 721 and ${inContracts})`;
  const units = sql`
    (select count(*) from ownership.balance t where t.owner = ${bytesOf(owner)} and t.units > 0 and ${inContracts})`;
  const all = sql`${own} + ${units} + ${ranged}`;
  return listed === null
    ? sql`(${all})`
    : sql`(${all} - (select count(*) from named_token t where not (${matches})))`;
}

function bytesOf(owner: Hex): RawBuilder<unknown> {
  return sql`decode(${anyValue(owner.slice(2), "text")}, 'hex')`;
}
