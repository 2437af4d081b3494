import { type RawBuilder, sql } from "kysely";
import { bidReasons } from "../domain/orders/order-status.ts";
import { blockTime } from "../order-state/block-time.ts";
import { clockAt } from "../engine/fact-window.ts";
import { counters, fillsAndCancels } from "../order-state/fills-and-cancels.ts";
import type { RecomputeSet } from "../order-state/select-facts.ts";
import { reasonCase, statusCase } from "../order-state/status-sql.ts";

/** The columns of the bids, the conditions that decide their state except funds, and the times of these facts. */
export function orderConditions(recompute: RecomputeSet): RawBuilder<unknown> {
  const clock = sql`(select ${clockAt(recompute)})`;
  /** Also of a counter in a retracted block: it will not occur again, so an order signed with it is cancelled. */
  const isStale = sql`coalesce(counter.amount, 0) <> o.counter`;
  return sql`
    select o.*, least(coalesce(ended.filled, 0), o.quantity) as filled, ended.filled_block as filled_block_id,
           coalesce(ended.filled >= o.quantity, false) as is_filled,
           coalesce(ended.is_cancelled, false) or ${isStale} as is_cancelled,
           o.end_time <= ${clock} as is_expired,
           o.start_time > greatest(${clock}, floor(extract(epoch from o.created_at))) as is_early,
           not coalesce(ended.is_signed, true) as is_unsigned,
           not coalesce(ended.is_received, true) as is_refused,
           ${blockTime(sql`ended.filled_block`)} as filled_at,
           greatest(${blockTime(sql`ended.cancelled_block`)}, case when ${isStale} then ${blockTime(sql`counter.block_id`)} end)
             as cancelled_at,
           ${blockTime(sql`ended.read_block`)} as read_at
    from ${recompute.orders} o
    left join (${fillsAndCancels(recompute, "bid")}) ended
      on ended.order_hash = o.order_hash and ended.exchange_id = o.exchange_id
    left join (${counters(recompute)}) counter
      on counter.maker = o.maker and counter.exchange_id = o.exchange_id`;
}

/** Why an open bid cannot be filled. Each bid is compared with all funds of its maker, whatever other bids there are. */
export const inactiveReason = reasonCase(bidReasons, {
  not_started: sql`is_early`,
  insufficient_balance: sql`balance_wei < unit_price_wei * (quantity - filled)`,
  insufficient_allowance: sql`allowance_wei < unit_price_wei * (quantity - filled)`,
  contract_signature_invalid: sql`is_unsigned`,
  transfer_restricted: sql`is_refused`,
});

export const status = statusCase({
  isFilled: sql`is_filled`,
  isCancelled: sql`is_cancelled`,
  isExpired: sql`is_expired`,
  isBlocked: sql`inactive_reason is not null`,
});

/** The time of the latest fact that the state depends on. */
export const updatedAt = sql`
  case status
    when 'filled' then greatest(created_at, filled_at)
    when 'cancelled' then greatest(created_at, filled_at, cancelled_at)
    when 'expired' then greatest(created_at, to_timestamp(end_time))
    else greatest(created_at, filled_at, read_at, balance_at, allowance_at,
                  case when not is_early then to_timestamp(start_time) end)
  end`;
