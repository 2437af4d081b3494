import { type RawBuilder, sql } from "kysely";
import { bidReasons } from "../domain/orders/order-status.ts";
import { clockAt } from "../order-state/clock.ts";
import { counters, fillsAndCancels } from "../order-state/fills-and-cancels.ts";
import type { RecomputeSet } from "../order-state/select-facts.ts";
import { reasonCase, statusCase } from "../order-state/status-sql.ts";

/** What the log tells of the judged bids themselves: their columns, what ended them, and when that happened. */
export function ownStates(judged: RecomputeSet): RawBuilder<unknown> {
  const clock = sql`(select ${clockAt(judged)})`;
  /** Counters that were dropped with their block never come back: what was signed with one is as good as cancelled. */
  const isStale = sql`coalesce(counter.amount, 0) <> o.counter`;
  return sql`
    select o.*, least(coalesce(ended.filled, 0), o.quantity) as filled, ended.filled_block as filled_block_id,
           coalesce(ended.filled >= o.quantity, false) as is_filled,
           coalesce(ended.is_cancelled, false) or ${isStale} as is_cancelled,
           o.end_time <= ${clock} as is_expired,
           o.start_time > greatest(${clock}, floor(extract(epoch from o.created_at))) as is_early,
           not coalesce(ended.is_signed, true) as is_unsigned,
           ${timeOf(sql`ended.filled_block`)} as filled_at,
           greatest(${timeOf(sql`ended.cancelled_block`)}, case when ${isStale} then ${timeOf(sql`counter.block_id`)} end)
             as cancelled_at,
           ${timeOf(sql`ended.signed_block`)} as signed_at
    from ${judged.orders} o
    left join (${fillsAndCancels(judged, "bid")}) ended
      on ended.order_hash = o.order_hash and ended.exchange_id = o.exchange_id
    left join (${counters(judged)}) counter
      on counter.maker = o.maker and counter.exchange_id = o.exchange_id`;
}

/** When a block was. */
export function timeOf(blockId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select b.timestamp from log.block b where b.block_id = ${blockId})`;
}

/** Each bid is judged alone: what it may still cost against all that its maker has and allows. */
export const blockedBy = reasonCase(bidReasons, {
  not_started: sql`is_early`,
  insufficient_balance: sql`balance_wei < unit_price_wei * (quantity - filled)`,
  insufficient_allowance: sql`allowance_wei < unit_price_wei * (quantity - filled)`,
  contract_signature_invalid: sql`is_unsigned`,
});

export const status = statusCase({
  isFilled: sql`is_filled`,
  isCancelled: sql`is_cancelled`,
  isExpired: sql`is_expired`,
  isBlocked: sql`blocked_by is not null`,
});

/** The newest time of what the state rests on. */
export const updatedAt = sql`
  case status
    when 'filled' then greatest(created_at, filled_at)
    when 'cancelled' then greatest(created_at, filled_at, cancelled_at)
    when 'expired' then greatest(created_at, to_timestamp(end_time))
    else greatest(created_at, filled_at, signed_at, balance_at, allowance_at,
                  case when not is_early then to_timestamp(start_time) end)
  end`;
