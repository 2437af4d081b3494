import { type RawBuilder, sql } from "kysely";
import type { Relation } from "../engine/projection.ts";
import { kindList } from "../log/fact-kinds.ts";
import { isEffective, type RecomputeSet } from "./select-facts.ts";

/**
 * `units` that transfers after a reading's block gave its maker, less those that they took: rows of `contract_id`,
 * `token_id`, `maker`. The readings, a named query that is used twice, have these columns and `block_id`. A token's
 * transfers are read once, whatever number of readings it has, and sorted among them by maker: anybody may make any
 * number of both.
 */
export function unitsMovedSince(recompute: RecomputeSet, readings: Relation): RawBuilder<unknown> {
  return sql`
    select contract_id, token_id, maker, sum(units) as units
    from (
      select *, max(read_at) over (partition by contract_id, token_id, maker) as since
      from (
        select contract_id, token_id, maker, block_id >> 12 as read_at, null::bigint as moved_at, null::numeric as units
        from ${readings}
        union all
        select t.contract_id, t.token_id, move.maker, null, f.block_id >> 12, move.units
        from (
          select contract_id, token_id, min(block_id) as read_first from ${readings} group by contract_id, token_id
        ) t
        cross join lateral (${transfersAfter(recompute)} offset 0) f
        cross join lateral (values (f.to_address, f.amount), (f.from_address, -f.amount)) move (maker, units)
      ) event
    ) placed
    where moved_at > since
    group by contract_id, token_id, maker`;
}

/** Transfers of the token of `t` after the block of its first reading. */
function transfersAfter(recompute: RecomputeSet): RawBuilder<unknown> {
  return sql`
    select f.from_address, f.to_address, f.amount, f.block_id from ${recompute.facts} f
    where f.kind in ${kindList("erc1155_transfer")} and f.contract_id = t.contract_id and f.token_id = t.token_id
      and f.block_id >= ((t.read_first >> 12) + 1) << 12 and ${isEffective(recompute)}`;
}
