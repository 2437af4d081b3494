import { type RawBuilder, sql } from "kysely";
import { zeroAddress } from "../log/sql-values.ts";

/** SQL: what each of the transfers takes from an owner and gives to one, in this order; nobody is at the zero address. */
export function unitLegs(transfers: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select t.contract_id, t.token_id, leg.owner, t.weight, t.block_id, t.log_index, t.sub_index, leg.step, leg.units
    from (${transfers}) t
    cross join lateral (values (t.from_address, 0, -t.amount), (t.to_address, 1, t.amount)) leg (owner, step, units)
    where leg.owner <> ${zeroAddress}`;
}

/**
 * SQL: by owner of an id, `units`: what transfers gave less what they took, and `lowest`: the least that this was on the
 * way in chain order, at most zero. Whoever moves more than the log gave has had the rest all along: it was minted
 * without an event, so that a balance is `units - lowest`.
 */
export function unitWalks(transfers: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select contract_id, token_id, owner, sum(units) as units, least(0, min(reached)) as lowest
    from (
      select contract_id, token_id, owner, units, sum(units) over (
               partition by contract_id, token_id, owner order by block_id, log_index, sub_index, step
             ) as reached
      from (${unitLegs(transfers)}) leg
    ) walked
    group by contract_id, token_id, owner`;
}
