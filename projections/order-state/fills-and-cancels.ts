import { type RawBuilder, sql } from "kysely";
import { kindList } from "../log/fact-kind-sql.ts";
import { allFacts, latestFacts, type RecomputeSet } from "./select-facts.ts";

/** Columns by which a fact of the exchange names an order. */
const order = { order_hash: "order_hash", contract_id: "exchange_id" };

const isFill = sql`kind in ${kindList("order_fulfilled")}`;
const isCancel = sql`kind in ${kindList("order_cancelled")}`;
const isSignature = sql`kind in ${kindList("signature_read")}`;
const isReading = sql`kind in ${kindList("order_status_read")}`;

/**
 * What fills, cancels and readings of them tell of the orders that have any: `order_hash`, `exchange_id`, `filled`
 * (units of the NFT), `is_cancelled`, `is_signed` (what a maker that is a contract said of its signature last), and the
 * blocks that tell it: `filled_block`, `cancelled_block`, `signed_block`. Fills add up from the newest reading of the
 * order's status on, and never to less than all of them together.
 * The orders have columns `order_hash`, `exchange_id`, `quantity`.
 */
export function fillsAndCancels(judged: RecomputeSet, side: "ask" | "bid"): RawBuilder<unknown> {
  const facts = allFacts(judged, {
    kinds: ["order_fulfilled", "order_cancelled", "order_status_read", "signature_read"],
    subject: order,
  });
  return sql`
    select order_hash, exchange_id,
           greatest(units, units_since + coalesce(div(
             quantity * (reading ->> 'filled')::numeric, nullif((reading ->> 'size')::numeric, 0)), 0)) as filled,
           cancelled_block is not null as is_cancelled, coalesce(signed = 1, true) as is_signed,
           filled_block, cancelled_block, signed_block
    from (
      select order_hash, exchange_id,
             coalesce(sum(units), 0) as units,
             coalesce(sum(units) filter (where block_id >> 12 > coalesce(read_at, -1)), 0) as units_since,
             (array_agg(payload order by block_id desc, position desc) filter (where ${isReading}))[1] as reading,
             (array_agg(amount order by block_id desc, position desc) filter (where ${isSignature}))[1] as signed,
             max(block_id) filter (where ${isFill} or ${isReading} and payload ->> 'filled' <> '0') as filled_block,
             max(block_id) filter (where ${isCancel} or ${isReading} and (payload ->> 'cancelled')::boolean)
               as cancelled_block,
             max(block_id) filter (where ${isSignature}) as signed_block
      from (
        select *, case when ${isFill} then ${unitsOf(side)} end as units,
               max(block_id >> 12) filter (where ${isReading}) over (partition by order_hash, exchange_id) as read_at
        from (${facts}) of_order
      ) counted
      group by order_hash, exchange_id
    ) summed
    join ${judged.orders} using (order_hash, exchange_id)`;
}

/** Each maker's counter, where there is evidence of it: `exchange_id`, `maker`, `amount`, `block_id`. */
export function counters(judged: RecomputeSet): RawBuilder<unknown> {
  return latestFacts(judged, {
    kinds: ["counter_incremented", "counter_read"],
    subject: { from_address: "maker", contract_id: "exchange_id" },
  });
}

/** Units of the NFT in a fill: what a listing gives, what a bid gets. */
function unitsOf(side: "ask" | "bid"): RawBuilder<unknown> {
  const items = side === "ask" ? sql`payload -> 'offer'` : sql`payload -> 'consideration'`;
  return sql`(
    select sum((item ->> 'amount')::numeric) from jsonb_array_elements(${items}) item
    where (item ->> 'itemType')::int >= 2)`;
}
