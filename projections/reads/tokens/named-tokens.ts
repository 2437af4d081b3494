import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { anyValue } from "#projections/log/sql-values.ts";
import { rangeAt, unfoldRanges } from "#projections/engine/token-ids.ts";
import { hasTraits } from "../traits/token-bitmaps.ts";
import { contractsOf, type TokenKey, type TokensFilter } from "./filter.ts";

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
