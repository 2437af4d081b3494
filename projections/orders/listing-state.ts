import { type RawBuilder, sql } from "kysely";
import { listingReasons } from "../domain/orders/order-status.ts";
import { clockAt } from "../engine/fact-window.ts";
import { ownedNow } from "../engine/token-ids.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import { reasonCase, statusCase } from "./read-orders.ts";
import {
  blockTime,
  conduit,
  exchange,
  fillsAndCancels,
  latestFacts,
  latestReadings,
  type RecomputeSet,
  unitsMovedSince,
} from "./select-facts.ts";

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
 *
 * `offset 0` has what a step computes computed once, without a copy of all rows. The conditions are copied: planned as part
 * of the steps, their joins take half as long again.
 */
export function listingStates(recompute: RecomputeSet): RawBuilder<unknown> {
  return sql`
    with conditions as materialized (${listingConditions(recompute)}),
    with_reason as (
      select *, ${ownReason} as own_reason from conditions offset 0
    ), with_own_status as (
      select *, ${status(sql`own_reason is not null`)} as own_status from with_reason offset 0
    ), dated as (
      select *, greatest(
               created_at, ${blockTime(lastBlock)},
               case when own_status in ('active', 'inactive') then last_seen_at end,
               case when has_started and own_status in ('active', 'inactive') then to_timestamp(start_time) end
             ) as changed_at
      from with_own_status offset 0
    ), ranked as (
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

/**
 * The conditions that decide the state of each listing: `filled_units`, `fillable_units`, `is_filled`, `is_cancelled`,
 * `is_expired`, `has_started`, `is_approved`, `is_channel_open`, `is_signed`, `is_received`, `is_transferable`, and the
 * latest blocks of these facts: `filled_block`, `cancelled_block`, `state_block`. Without a fact, an approval, a counter
 * or a holding is zero, and the other conditions are met. Only the common conduit has facts.
 *
 * One lookup per access path (order, maker, token): for a small window the cost is planning, which grows with every
 * reference to the log.
 */
function listingConditions(recompute: RecomputeSet): RawBuilder<unknown> {
  return sql`
    with of_order as materialized (${fillsAndCancels(recompute, "ask")}),
    of_maker as materialized (${countersAndApprovals(recompute)}),
    of_token as materialized (${ownerReadings(recompute)}),
    of_approval as materialized (${tokenApprovals(recompute)}),
    of_holder as materialized (${holderReadings(recompute)}),
    units_read as materialized (select * from of_holder where kind = ${kindLiteral("units_read")}),
    moved as materialized (${unitsMovedSince(recompute, sql`units_read`)}),
    held as materialized (${holdings(recompute)}),
    channel as materialized (${channels(recompute)}),
    clock as materialized (select ${clockAt(recompute)} as now)
    select o.order_hash, o.chain_id, o.position, o.marketplace, o.contract_id, o.token_id, o.maker, o.unit_price_wei,
           o.created_at, o.last_seen_at, o.is_visible, o.start_time, o.end_time, coalesce(e.filled, 0) as filled_units,
           case when o.is_filled_whole and h.units < o.quantity then 0
                else greatest(0, least(o.quantity - coalesce(e.filled, 0), h.units)) end as fillable_units,
           coalesce(e.filled, 0) >= o.quantity as is_filled,
           coalesce(e.is_cancelled, false) or coalesce(k.amount, 0) <> o.counter as is_cancelled,
           o.end_time <= (select now from clock) as is_expired,
           o.start_time <= greatest((select now from clock), extract(epoch from o.created_at)) as has_started,
           not o.is_conduit_known or coalesce(a.amount = 1, false) or h.is_token_approved as is_approved, coalesce(${ofChannel("amount")} = 1, true) as is_channel_open,
           coalesce(e.is_signed, true) as is_signed, coalesce(e.is_received, true) as is_received, h.is_transferable,
           e.filled_block,
           greatest(e.cancelled_block, case when k.amount <> o.counter then k.block_id end) as cancelled_block,
           greatest(e.filled_block, e.read_block, h.block_id, a.block_id, ${ofChannel("block_id")})
             as state_block
    from ${recompute.orders} o
    join held h using (order_hash, chain_id)
    left join of_order e on e.order_hash = o.order_hash and e.exchange_id = o.exchange_id
    left join of_maker k on k.contract_id = o.exchange_id and k.maker = o.maker
    left join of_maker a on a.contract_id = o.contract_id and a.maker = o.maker and o.is_conduit_known`;
}

/** Each maker's latest fact per contract: the counter at the exchange, the approval at a collection. */
function countersAndApprovals(recompute: RecomputeSet): RawBuilder<unknown> {
  const orders = sql`(
    select maker, contract_id from ${recompute.orders} union select maker, exchange_id from ${recompute.orders}) named`;
  return latestFacts(
    { ...recompute, orders },
    {
      kinds: ["counter_incremented", "counter_read", "approval_for_all", "approval_read"],
      subject: { from_address: "maker", contract_id: "contract_id" },
      where: sql`
        (f.to_address = ${conduit} or f.kind in ${kindList("counter_incremented", "counter_read")})`,
    },
  );
}

function channels(recompute: RecomputeSet): RawBuilder<unknown> {
  return latestFacts(recompute, {
    kinds: ["channel_updated", "channel_read"],
    subject: { contract_id: "conduit_id" },
    where: sql`f.to_address = ${exchange}`,
  });
}

/** Of the conduit of `o`: one row per chain. */
function ofChannel(column: "amount" | "block_id"): RawBuilder<unknown> {
  return sql`(select ${sql.ref(column)} from channel c where c.conduit_id = o.conduit_id)`;
}

/** The latest reading of the owner of each token. */
function ownerReadings(recompute: RecomputeSet): RawBuilder<unknown> {
  const orders = sql`(select * from ${recompute.orders} where standard = 721) of_owner`;
  return latestReadings(
    { ...recompute, orders },
    { kinds: ["owner_read"], subject: { contract_id: "contract_id", token_id: "token_id" } },
  );
}

/** The latest reading of the approval of each token alone. */
function tokenApprovals(recompute: RecomputeSet): RawBuilder<unknown> {
  const orders = sql`(
    select * from ${recompute.orders} where standard = 721 and is_conduit_known) of_approval`;
  return latestReadings(
    { ...recompute, orders },
    {
      kinds: ["token_approval_read"],
      subject: { contract_id: "contract_id", token_id: "token_id" },
    },
  );
}

/** The latest readings of the units of each maker, and of whether the conduit can transfer the token from there. */
function holderReadings(recompute: RecomputeSet): RawBuilder<unknown> {
  const orders = sql`(
    select contract_id, token_id, maker, kind from ${recompute.orders}
    cross join (values (${kindLiteral("units_read")}), (${kindLiteral("transfer_read")})) of_kind (kind)
    where case kind when ${kindLiteral("units_read")} then standard = 1155 else is_conduit_known end) of_holder`;
  return latestReadings(
    { ...recompute, orders },
    {
      kinds: ["units_read", "transfer_read"],
      subject: {
        contract_id: "contract_id",
        token_id: "token_id",
        from_address: "maker",
        kind: "kind",
      },
    },
  );
}

/**
 * Units that the maker of each listing holds, whether the conduit can transfer them and is approved for the token alone,
 * which its next transfer ends, and the latest block of these facts. Of ERC-1155 units the latest reading and the transfers after its block count, without a reading all transfers;
 * their sum has no block.
 */
function holdings(recompute: RecomputeSet): RawBuilder<unknown> {
  const { token, balance, rangeAt } = recompute.owned ?? ownedNow;
  const movedAt = sql`coalesce(t.block_id, g.block_id)`;
  const isOwner = sql`
    o.maker = case when n.block_id is null or ${movedAt} >> 12 > n.block_id >> 12 then coalesce(t.owner, g.owner) else n.fact_to_address end`;
  return sql`
    select o.order_hash, o.chain_id,
           case when o.standard = 721 then coalesce(${isOwner}, false)::int
                when r.block_id is null then coalesce(b.units, 0)
                else r.amount + coalesce(v.units, 0) end as units,
           coalesce(m.amount = 1, true) as is_transferable,
           coalesce(p.amount = 1 and p.block_id >> 12 >= coalesce(${movedAt}, 0) >> 12, false) as is_token_approved,
           greatest(${movedAt}, n.block_id, r.block_id, m.block_id, p.block_id) as block_id
    from ${recompute.orders} o
    left join ${token} t
      on t.contract_id = o.contract_id and t.token_id = o.token_id and t.standard = 721 and o.standard = 721
    left join lateral (${rangeAt(sql`o.contract_id`, sql`o.token_id`)}) g on t.contract_id is null and o.standard = 721
    left join ${balance} b
      on b.contract_id = o.contract_id and b.token_id = o.token_id and b.owner = o.maker and o.standard = 1155
    left join of_token n
      on n.contract_id = o.contract_id and n.token_id = o.token_id and o.standard = 721
    left join of_approval p
      on p.contract_id = o.contract_id and p.token_id = o.token_id and o.standard = 721 and o.is_conduit_known
    left join units_read r
      on r.contract_id = o.contract_id and r.token_id = o.token_id and r.maker = o.maker and o.standard = 1155
    left join moved v
      on v.contract_id = r.contract_id and v.token_id = r.token_id and v.maker = r.maker
    left join of_holder m
      on m.contract_id = o.contract_id and m.token_id = o.token_id and m.maker = o.maker
      and m.kind = ${kindLiteral("transfer_read")} and o.is_conduit_known`;
}
