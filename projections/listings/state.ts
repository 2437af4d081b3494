import { type RawBuilder, sql } from "kysely";
import { listingReasons } from "../domain/orders/order-status.ts";
import { blockTime } from "../order-state/block-time.ts";
import type { RecomputeSet } from "../order-state/select-facts.ts";
import { reasonCase, statusCase } from "../order-state/status-sql.ts";
import { listingConditions } from "./listing-conditions.ts";

/** Only our own listings are superseded by a cheaper one; partners have rules of their own. */
const isSuperseded = sql`rank > 1 and own_status = 'active' and marketplace = 'native'`;

/** Why a listing is inactive, regardless of its maker's other listings. */
const ownReason = reasonCase(listingReasons, {
  not_started: sql`not has_started`,
  not_owner: sql`fillable_units = 0`,
  not_approved: sql`not is_approved`,
  conduit_channel_closed: sql`not is_channel_open`,
  contract_signature_invalid: sql`not is_signed`,
  transfer_restricted: sql`not is_transferable or not is_received`,
  partner_invalidated: sql`not is_visible`,
});
const status = (isBlocked: RawBuilder<unknown>) =>
  statusCase({
    isFilled: sql`is_filled`,
    isCancelled: sql`is_cancelled`,
    isExpired: sql`is_expired`,
    isBlocked,
  });

/** The latest block that the state depends on. */
const lastBlock = sql`
  case own_status when 'filled' then filled_block when 'cancelled' then cancelled_block else state_block end`;

/**
 * The state of each listing: `order_hash`, `chain_id`, `status`, `reason`, `filled`, `fillable`, `updated_at`. Of a
 * maker's fillable listings of a token on our own marketplace only the cheapest is active, of equal ones the newest. The
 * state of an ended listing depends only on the fact that ended it.
 */
export function listingStates(recompute: RecomputeSet): RawBuilder<unknown> {
  return sql`
    with conditions as materialized (${listingConditions(recompute)}),
    with_reason as materialized (
      select *, ${ownReason} as own_reason from conditions
    ), with_own_status as materialized (
      select *, ${status(sql`own_reason is not null`)} as own_status from with_reason
    ), dated as materialized (
      select *, greatest(
               created_at, ${blockTime(lastBlock)},
               case when own_status in ('active', 'inactive') then last_seen_at end,
               case when has_started and own_status in ('active', 'inactive') then to_timestamp(start_time) end
             ) as changed_at
      from with_own_status
    ), ranked as materialized (
      select *, row_number() over best as rank, first_value(changed_at) over best as best_changed_at
      from dated
      window best as (
        partition by contract_id, token_id, maker, own_status, marketplace = 'native' order by unit_price_wei, position desc
      )
    ), recomputed as (
      select *, ${status(sql`own_reason is not null or ${isSuperseded}`)} as status from ranked
    )
    select order_hash, chain_id, status, filled_units as filled,
           case when status = 'inactive' then coalesce(own_reason, 'superseded') end as reason,
           case when status in ('active', 'inactive') then fillable_units else 0 end as fillable,
           case when status = 'expired' then to_timestamp(end_time)
                when ${isSuperseded} then greatest(changed_at, best_changed_at)
                else changed_at end as updated_at
    from recomputed`;
}
