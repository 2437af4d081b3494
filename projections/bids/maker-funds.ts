import { type RawBuilder, sql } from "kysely";
import type { FactKind } from "../log/fact-kind.ts";
import { kindList } from "../log/fact-kind-sql.ts";
import { exchange } from "../order-state/exchange-contracts.ts";
import { isEffective, type RecomputeSet } from "../order-state/select-facts.ts";
import { timeOf } from "./state.ts";

/** An allowance that fills do not reduce. WETH9 `transferFrom`. */
const UNLIMITED = sql.raw(`${2n ** 256n - 1n}`);

/**
 * Queries, named for a `with`, that tell what accounts have and allow the exchange to take. `account` holds chain_id,
 * currency and maker, `own` the judged bids with `filled_block_id`. The last one, `paid`, has for each account
 * balance_wei, balance_at, allowance_wei and allowance_at: wei, and the time of the newest fact about it. Nothing known
 * is nothing there. Facts are found by the account, and none older than a reading.
 */
export function makerFunds(schema: string, judged: RecomputeSet): RawBuilder<unknown> {
  return sql`
    told as materialized (
      select a.chain_id, a.currency, a.maker, coalesce(reading.wei, 0) + moved.wei as balance_wei,
             coalesce(moved.block_id, reading.block_id) as balance_block, allowed.wei as allowance_wei,
             allowed.block_id as allowance_block, coalesce(allowed.log_index, 2147483647) as allowance_log
      from account a
      left join log.contract k on k.chain_id = a.chain_id and k.address = a.currency
      left join lateral (${newestBalanceReading(judged)}) reading on true
      cross join lateral (${movesSince(judged)}) moved
      left join lateral (${newestAllowance(judged)}) allowed on true
    ), spent as (
      ${spentSince(schema, judged)}
    ), paid as (
      select t.chain_id, t.currency, t.maker, t.balance_wei, ${timeOf(sql`t.balance_block`)} as balance_at,
             greatest(t.allowance_wei - coalesce(s.wei, 0), 0) as allowance_wei,
             ${timeOf(sql`coalesce(s.block_id, t.allowance_block)`)} as allowance_at
      from told t left join spent s using (chain_id, currency, maker)
    )`;
}

function newestBalanceReading(judged: RecomputeSet): RawBuilder<unknown> {
  return sql`
    select f.amount as wei, f.block_id from ${judged.facts} f
    where f.kind in ${kindList("balance_read")} and f.from_address = a.maker and f.contract_id = k.contract_id
      and ${isEffective(judged)}
    order by f.block_id desc, f.position desc limit 1`;
}

/** A reading stands after every log of its height: what moved on a later one is added to it. */
function movesSince(judged: RecomputeSet): RawBuilder<unknown> {
  const counted = sql`
    f.contract_id = k.contract_id and f.block_id >= coalesce(((reading.block_id >> 12) + 1) << 12, 0)
    and ${isEffective(judged)}`;
  return sql`
    select coalesce(sum(move.wei), 0) as wei, max(move.block_id) as block_id
    from (
      select f.amount as wei, f.block_id from ${judged.facts} f
      where f.kind in ${kindList("erc20_transfer", "wrapped_deposit")} and f.to_address = a.maker and ${counted}
      union all
      select -f.amount, f.block_id from ${judged.facts} f
      where f.kind in ${kindList("erc20_transfer", "wrapped_withdrawal")} and f.from_address = a.maker and ${counted}
    ) move`;
}

/** An approval, or a reading: at the same height the reading, which has no place among the logs. */
function newestAllowance(judged: RecomputeSet): RawBuilder<unknown> {
  const newest = (kind: FactKind) => sql`
    select f.amount as wei, f.block_id, f.log_index from ${judged.facts} f
    where f.kind in ${kindList(kind)} and f.from_address = a.maker and f.contract_id = k.contract_id
      and f.to_address = ${exchange} and ${isEffective(judged)}
    order by f.block_id desc, f.log_index desc, f.position desc limit 1`;
  return sql`
    select e.* from ((${newest("erc20_approval")}) union all (${newest("allowance_read")})) e
    order by e.block_id >> 12 desc, e.log_index desc nulls first limit 1`;
}

/** What fills of the makers' bids took after that, judged and stored ones. */
function spentSince(schema: string, judged: RecomputeSet): RawBuilder<unknown> {
  const since = sql`o.filled_block_id >= (t.allowance_block >> 12) << 12 and t.allowance_wei <> ${UNLIMITED}`;
  return sql`
    select t.chain_id, t.currency, t.maker, sum(f.wei) as wei, max(f.block_id) as block_id
    from (
      select t.*, o.order_hash from told t join own o using (chain_id, currency, maker) where ${since}
      union all
      select t.*, o.order_hash from told t cross join lateral (
        select o.order_hash from ${sql.table(`${schema}.bid`)} o
        where o.maker = t.maker and o.chain_id = t.chain_id and o.currency = t.currency and ${since} offset 0
      ) o
      where not exists (
        select from ${judged.orders} j where j.chain_id = t.chain_id and j.order_hash = o.order_hash
      )
    ) t
    cross join lateral (
      select f.block_id, (
               select sum((item ->> 'amount')::numeric) from jsonb_array_elements(f.payload -> 'offer') item
               where (item ->> 'itemType')::int = 1 and decode(substr(item ->> 'token', 3), 'hex') = t.currency
             ) as wei
      from ${judged.facts} f join log.contract x using (contract_id)
      where f.order_hash = t.order_hash and f.kind in ${kindList("order_fulfilled")} and ${isEffective(judged)}
        and x.chain_id = t.chain_id and x.address = ${exchange}
        and (f.block_id >> 12, f.log_index) > (t.allowance_block >> 12, t.allowance_log)
      offset 0
    ) f
    group by t.chain_id, t.currency, t.maker`;
}
