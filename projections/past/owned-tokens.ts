import { type RawBuilder, sql } from "kysely";
import { mostFolded } from "../engine/fold-budget.ts";
import { happenedBy, type Point } from "../engine/point.ts";
import type { OwnedTokens } from "../engine/token-ids.ts";
import { isBurnAddress } from "../log/sql-values.ts";
import { foldedFacts, hasUnits, pastStateCtes } from "../tokens/past-states.ts";
import { isRange } from "../tokens/range-rows.ts";

/**
 * SQL: CTEs that `ownedAt` reads: who had the ids of `subject` (contract_id, token_id) at a point. What has not moved since is as
 * it is today, the rest is folded. Follow `retractedCte`.
 */
export function ownedCtes(point: Point): RawBuilder<unknown> {
  return sql`
    standing as materialized (
      select t.* from subject w join ownership.token t using (contract_id, token_id)
      where t.block_id < ${point.endId}::bigint
    ), wanted as materialized (
      select w.contract_id, w.token_id, ${hasUnits} as has_units from subject w
      where not exists (select from standing t where t.contract_id = w.contract_id and t.token_id = w.token_id)
    ), ${pastStateCtes(point)}, past_range as materialized (
      select w.contract_id, w.token_id, f.owner, f.block_id, f.log_index
      from wanted w cross join lateral (${lastRange(point)}) f
      where exists (select from ownership.last_range r where r.contract_id = w.contract_id)
        and not exists (select from past_id i where i.contract_id = w.contract_id and i.token_id = w.token_id)
    ), past_token as materialized (
      select contract_id, token_id, standard, owner, is_burned, block_id from standing
      union all
      (select distinct on (contract_id, token_id) contract_id, token_id, 721::smallint, owner, ${isBurnAddress(sql`owner`)}, block_id
       from (select * from past_single union all select * from past_range) single
       order by contract_id, token_id, block_id desc, log_index desc)
      union all
      select contract_id, token_id, 1155::smallint, null, was_burned and not exists (
               select from past_unit u
               where u.contract_id = i.contract_id and u.token_id = i.token_id and not ${isBurnAddress(sql`u.owner`)}
             ), (select max(block_id) from past_moved m where m.contract_id = i.contract_id and m.token_id = i.token_id)
      from past_id i
    ), past_balance as materialized (
      select b.contract_id, b.token_id, b.owner, b.units
      from standing t join ownership.balance b using (contract_id, token_id) where t.standard = 1155
      union all
      select contract_id, token_id, owner, units from past_unit
    )`;
}

/** SQL: the last range that held the id of `w` at a point. */
const lastRange = (point: Point) => sql`
  select f.to_address as owner, f.block_id, f.log_index from log.fact f
  where ${isRange} and f.contract_id = w.contract_id and f.token_id <= w.token_id
    and f.token_id + f.amount > w.token_id and ${happenedBy(point)}
  order by f.block_id desc, f.log_index desc limit 1`;

/** Who had what: relations of `ownedCtes`. */
export const ownedAt: OwnedTokens = {
  token: sql`past_token`,
  balance: sql`past_balance`,
  // An id in a range is a row of `past_token`.
  rangeAt: () => sql`select null::bigint as block_id, null::bytea as owner where false`,
  tokensAt: (contractId, tokenId) => sql`(
    select * from past_token one where one.contract_id = ${contractId} and one.token_id = ${tokenId}
  )`,
};

/** SQL: number of what was folded: a budget is `mostFolded`. */
export const foldedOwners = sql`greatest(${foldedFacts}, (select least(count(*), ${mostFolded + 1})::int from wanted))`;
