import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../../sql/any-value.ts";
import { idsHaving, type Rows, type Source } from "./candidates.ts";
import { familyOf, fitsTraits, type TokenKey, type TokensFilter } from "./filter.ts";
import { stands } from "./listed-now.ts";

const columns = sql`t.contract_id, t.token_id, t.standard, 0::numeric as value`;

/** Tokens by id of which a condition on `t` holds. */
export function tokensById(
  filter: TokensFilter,
  source: Source,
  condition: RawBuilder<unknown>,
): Rows {
  return (after, limit) => {
    const fitting = sql`${beyondId(after)} and ${condition}`;
    if (source === "chosen") return sql`select ${columns} from chosen t where ${fitting}`;
    if (source === "having") return havingById(fitting, after, limit);
    return sql`
      select t.* from unnest(${familyOf(filter)}) family (contract_id) cross join lateral (
        select ${columns} from ownership.token t
        where t.contract_id = family.contract_id and ${fitting} and ${fitsTraits(filter, "t")}
        order by t.token_id, t.standard limit ${limit}
      ) t`;
  };
}

/** Each contract's own index gives its listed tokens in order. */
export function listedById(filter: TokensFilter, condition: RawBuilder<unknown>): Rows {
  return (after, limit) => {
    const fitting = sql`${beyondId(after)} and ${condition} and ${fitsTraits(filter, "t")}`;
    return sql`
      select t.* from unnest(${familyOf(filter)}) family (contract_id) cross join lateral (
        select ${columns} from traits.listed t
        where t.contract_id = family.contract_id and ${fitting} and ${stands("t")}
        order by t.token_id limit ${limit}
      ) t
      union all
      select ${columns} from relisted t where t.contract_id = any (${familyOf(filter)}) and ${fitting}`;
  };
}

function havingById(
  fitting: RawBuilder<unknown>,
  after: TokenKey | null,
  limit: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const beyond =
    after === null
      ? sql`true`
      : sql`(h.token_id, h.contract_id) >= (${numeric(after.tokenId)}, ${anyValue(after.contractId, "int")})`;
  return sql`
    select t.* from (
      select h.* from ${idsHaving} h where ${beyond} order by h.token_id, h.contract_id offset 0
    ) h cross join lateral (
      select ${columns} from ownership.token t
      where t.contract_id = h.contract_id and t.token_id = h.token_id and ${fitting} offset 0
    ) t
    order by h.token_id, h.contract_id, t.standard limit ${limit}`;
}

function beyondId(after: TokenKey | null): RawBuilder<unknown> {
  if (after === null) return sql`true`;
  const { tokenId, contractId, standard } = after;
  return sql`
    (t.token_id, t.contract_id, t.standard)
    > (${numeric(tokenId)}, ${anyValue(contractId, "int")}, ${anyValue(standard, "smallint")})`;
}

function numeric(value: bigint): RawBuilder<unknown> {
  return anyValue(String(value), "numeric");
}
