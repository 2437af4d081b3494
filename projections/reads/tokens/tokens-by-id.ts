import { type RawBuilder, sql } from "kysely";
import { anyValue } from "#projections/log/sql-values.ts";
import { rangeAt, tokensAt, idsOfContract } from "#projections/engine/token-ids.ts";
import { hasNoEndedListing } from "../traits/current-listings.ts";
import { idsWithTraits, type RowsAfter, type Source } from "./access-path.ts";
import { contractsOf, isByTraitsOnly, matchesTraits, type TokenKey, type TokensFilter } from "./filter.ts";

const columns = sql`t.contract_id, t.token_id, t.standard, 0::numeric as value`;

/** Tokens by id that meet a condition on `t`. */
export function tokensById(
  filter: TokensFilter,
  source: Source,
  condition: RawBuilder<unknown>,
): RowsAfter {
  return (after, limit) => {
    const rowCondition = sql`${afterCursor(after)} and ${condition}`;
    if (source === "named") return sql`select ${columns} from named_token t where ${rowCondition}`;
    if (source === "bitmap") return withTraitsById(rowCondition, after, limit);
    return sql`
      select t.* from unnest(${contractsOf(filter)}) contract (contract_id) cross join lateral (
        (select ${columns} from ownership.token t
         where t.contract_id = contract.contract_id and ${rowCondition} and ${matchesTraits(filter, "t")}
         order by t.token_id, t.standard limit ${limit})
        union all
        (select ${columns} from ${idsInRanges(filter, after)} t
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
    const rowCondition = sql`${afterCursor(after)} and ${condition} and ${matchesTraits(filter, "t")}`;
    return sql`
      select t.* from unnest(${contractsOf(filter)}) contract (contract_id) cross join lateral (
        select ${columns} from traits.listed_token t
        where t.contract_id = contract.contract_id and ${rowCondition} and ${hasNoEndedListing("t")}
        order by t.token_id limit ${limit}
      ) t
      union all
      select ${columns} from replacement_listing t where t.contract_id = any (${contractsOf(filter)}) and ${rowCondition}`;
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
      select ${columns} from ${tokensAt(sql`h.contract_id`, sql`h.token_id`)} t
      where ${rowCondition} offset 0
    ) t
    order by h.token_id, h.contract_id, t.standard limit ${limit}`;
}

function afterCursor(after: TokenKey | null): RawBuilder<unknown> {
  if (after === null) return sql`true`;
  const { tokenId, contractId, standard } = after;
  return sql`
    (t.token_id, t.contract_id, t.standard)
    > (${numeric(tokenId)}, ${anyValue(contractId, "int")}, ${anyValue(standard, "smallint")})`;
}

function numeric(value: bigint): RawBuilder<unknown> {
  return anyValue(String(value), "numeric");
}
