import { type RawBuilder, sql } from "kysely";
import { listingReasons } from "../domain/orders/order-status.ts";
import type { RecomputeSet } from "../order-state/select-facts.ts";
import { reasonCase, statusCase } from "../order-state/status-sql.ts";
import { listingConditions } from "./listing-conditions.ts";

/** The house hides what it would undersell; what partners show is theirs to hide. */
const isSuperseded = sql`place > 1 and own_status = 'active' and marketplace = 'native'`;

/** What holds of a row by itself, whatever else its maker offers. */
const ownReason = reasonCase(listingReasons, {
  not_started: sql`not has_started`,
  not_owner: sql`fillable_units = 0`,
  not_approved: sql`not is_approved`,
  conduit_channel_closed: sql`not is_channel_open`,
  contract_signature_invalid: sql`not is_signed`,
  transfer_restricted: sql`not is_movable`,
  partner_invalidated: sql`not is_shown`,
});
const status = (isBlocked: RawBuilder<unknown>) =>
  statusCase({
    isFilled: sql`is_filled`,
    isCancelled: sql`is_cancelled`,
    isExpired: sql`is_expired`,
    isBlocked,
  });

/** The last block that the state rests on. */
const lastBlock = sql`
  case own_status when 'filled' then filled_block when 'cancelled' then cancelled_block else evidence_block end`;

/**
 * The state of each judged listing that the facts tell: `order_hash`, `chain_id`, `new_status`, `new_reason`,
 * `new_filled`, `new_fillable`, `new_updated_at`. Of a maker's listings of a token in the house's own book that could be
 * filled only the cheapest is active, of equal ones the newest. What has ended rests on nothing but what ended it.
 */
export function listingStates(judged: RecomputeSet): RawBuilder<unknown> {
  return sql`
    with evident as materialized (${listingConditions(judged)}),
    reasoned as materialized (
      select *, ${ownReason} as own_reason from evident
    ), standing as materialized (
      select *, ${status(sql`own_reason is not null`)} as own_status from reasoned
    ), dated as materialized (
      select *, greatest(
               created_at, (select b.timestamp from log.block b where b.block_id = ${lastBlock}),
               case when own_status in ('active', 'inactive') then told_at end,
               case when has_started and own_status in ('active', 'inactive') then to_timestamp(start_time) end
             ) as changed_at
      from standing
    ), placed as materialized (
      select *, row_number() over best as place, first_value(changed_at) over best as best_changed_at
      from dated
      window best as (
        partition by contract_id, token_id, maker, own_status, marketplace = 'native' order by unit_price_wei, position desc
      )
    ), judged as (
      select *, ${status(sql`own_reason is not null or ${isSuperseded}`)} as new_status from placed
    )
    select order_hash, chain_id, new_status, filled_units as new_filled,
           case when new_status = 'inactive' then coalesce(own_reason, 'superseded') end as new_reason,
           case when new_status in ('active', 'inactive') then fillable_units else 0 end as new_fillable,
           case when new_status = 'expired' then to_timestamp(end_time)
                when ${isSuperseded} then greatest(changed_at, best_changed_at)
                else changed_at end as new_updated_at
    from judged`;
}
