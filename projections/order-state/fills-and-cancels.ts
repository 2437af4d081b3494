import { type RawBuilder, sql } from "kysely";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import { allFacts, latestFacts, latestReadings, type RecomputeSet } from "./select-facts.ts";

/** The columns of a fact of the exchange that identify an order. */
const order = { order_hash: "order_hash", contract_id: "exchange_id" };

const isFill = sql`kind in ${kindList("order_fulfilled")}`;
const isCancel = sql`kind in ${kindList("order_cancelled")}`;
const isSignature = sql`kind in ${kindList("signature_read")}`;
const isRecipients = sql`kind in ${kindList("recipients_read")}`;
const isReading = sql`kind in ${kindList("order_status_read")}`;

/**
 * For orders with any such fact: `order_hash`, `exchange_id`, `filled` (units of the NFT), `is_cancelled`, `is_signed`
 * (the last ERC-1271 answer of a maker that is a contract), `is_received` (whether the recipients took what they would
 * get), and the blocks of these facts: `filled_block`, `cancelled_block`, `read_block` (of the last two). `filled` is the
 * latest status reading plus later fills, at least the sum of all fills. The orders have columns `order_hash`,
 * `exchange_id`, `quantity`.
 */
export function fillsAndCancels(recompute: RecomputeSet, side: "ask" | "bid"): RawBuilder<unknown> {
  const facts = allFacts(recompute, {
    kinds: ["order_fulfilled", "order_cancelled", "order_status_read"],
    subject: order,
  });
  const orders = sql`(
    select order_hash, exchange_id, reading_kind from ${recompute.orders}
    cross join (values (${kindLiteral("signature_read")}), (${kindLiteral("recipients_read")})) of_kind (reading_kind)) of_order`;
  const readings = latestReadings(
    { ...recompute, orders },
    { kinds: ["signature_read", "recipients_read"], subject: { ...order, kind: "reading_kind" } },
  );
  return sql`
    select order_hash, exchange_id,
           greatest(units, units_since + coalesce(div(
             quantity * (reading ->> 'filled')::numeric, nullif((reading ->> 'size')::numeric, 0)), 0)) as filled,
           cancelled_block is not null as is_cancelled, coalesce(signed = 1, true) as is_signed,
           coalesce(received = 1, true) as is_received, filled_block, cancelled_block, read_block
    from (
      select order_hash, exchange_id,
             coalesce(sum(units), 0) as units,
             coalesce(sum(units) filter (where block_id >> 12 > coalesce(read_at, -1)), 0) as units_since,
             (array_agg(payload order by block_id desc, position desc) filter (where ${isReading}))[1] as reading,
             max(amount) filter (where ${isSignature}) as signed,
             max(amount) filter (where ${isRecipients}) as received,
             max(block_id) filter (where ${isFill} or ${isReading} and payload ->> 'filled' <> '0') as filled_block,
             max(block_id) filter (where ${isCancel} or ${isReading} and (payload ->> 'cancelled')::boolean)
               as cancelled_block,
             max(block_id) filter (where ${isSignature} or ${isRecipients}) as read_block
      from (
        select *, case when ${isFill} then ${unitsOf(side)} end as units,
               max(block_id >> 12) filter (where ${isReading}) over (partition by order_hash, exchange_id) as read_at
        from (
          select order_hash, exchange_id, kind, position, block_id, amount, payload from (${facts}) of_order
          union all
          select order_hash, exchange_id, reading_kind, null, block_id, amount, null from (${readings}) newest
        ) of_order
      ) counted
      group by order_hash, exchange_id
    ) summed
    join ${recompute.orders} using (order_hash, exchange_id)`;
}

/** Each maker's latest known counter: `exchange_id`, `maker`, `amount`, `block_id`. */
export function counters(recompute: RecomputeSet): RawBuilder<unknown> {
  return latestFacts(recompute, {
    kinds: ["counter_incremented", "counter_read"],
    subject: { from_address: "maker", contract_id: "exchange_id" },
  });
}

/**
 * Units of the NFT in a fill: offered by a listing, received by a bid. It is the first item of an accepted order, and
 * of the event; whoever fills a bid may append items of their own to its consideration, NFTs as well.
 */
function unitsOf(side: "ask" | "bid"): RawBuilder<unknown> {
  const amount = side === "ask" ? "{offer,0,amount}" : "{consideration,0,amount}";
  return sql`(payload #>> ${sql.lit(amount)})::numeric`;
}
