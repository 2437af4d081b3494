import { type RawBuilder, sql } from "kysely";
import type { Relation } from "../engine/projection.ts";
import { type FactKind, kindList } from "../log/fact-kinds.ts";
import {
  blockTime,
  exchange,
  exchangeContracts,
  isEffective,
  latestFacts,
  latestReadings,
  type RecomputeSet,
} from "./select-facts.ts";

/** An allowance that fills do not reduce. WETH9 `transferFrom`. */
const UNLIMITED = sql.raw(`${2n ** 256n - 1n}`);

/**
 * Named queries for balances and allowances. They read `account` (chain_id, currency, maker), `conditions` (the bids
 * to recompute, with `filled_block_id`) and the `stored` bids. The last one, `funds`, has per account balance_wei, balance_at, allowance_wei
 * and allowance_at: wei, and the time of the latest fact. Without a fact it is zero. Facts are looked up by account, and
 * none older than the latest reading.
 */
export function makerFunds(stored: Relation, recompute: RecomputeSet): RawBuilder<unknown> {
  return sql`
    known as materialized (
      select a.chain_id, a.currency, a.maker, coalesce(reading.wei, 0) + moved.wei as balance_wei,
             coalesce(moved.block_id, reading.block_id) as balance_block, allowed.wei as allowance_wei,
             allowed.block_id as allowance_block, coalesce(allowed.log_index, 2147483647) as allowance_log
      from account a
      left join log.contract k on k.chain_id = a.chain_id and k.address = a.currency
      left join lateral (${newestBalanceReading(recompute)}) reading on true
      cross join lateral (${movesSince(recompute)}) moved
      left join lateral (${newestAllowance(recompute)}) allowed on true
    ), spent as (
      ${spentSince(stored, recompute)}
    ), funds as (
      select t.chain_id, t.currency, t.maker, t.balance_wei, ${blockTime(sql`t.balance_block`)} as balance_at,
             greatest(t.allowance_wei - coalesce(s.wei, 0), 0) as allowance_wei,
             ${blockTime(sql`coalesce(s.block_id, t.allowance_block)`)} as allowance_at
      from known t left join spent s using (chain_id, currency, maker)
    )`;
}

function newestBalanceReading(recompute: RecomputeSet): RawBuilder<unknown> {
  return sql`
    select f.amount as wei, f.block_id from ${recompute.facts} f
    where f.kind in ${kindList("balance_read")} and f.from_address = a.maker and f.contract_id = k.contract_id
      and ${isEffective(recompute)}
    order by f.block_id desc, f.position desc limit 1`;
}

/**
 * A reading is of the end of its block: transfers of later blocks are added to it. A transfer of nothing, which anybody
 * may make in anybody's name, is none.
 */
function movesSince(recompute: RecomputeSet): RawBuilder<unknown> {
  const counted = sql`
    f.contract_id = k.contract_id and f.amount > 0 and f.block_id >= coalesce(((reading.block_id >> 12) + 1) << 12, 0)
    and ${isEffective(recompute)}`;
  return sql`
    select coalesce(sum(move.wei), 0) as wei, max(move.block_id) as block_id
    from (
      select f.amount as wei, f.block_id from ${recompute.facts} f
      where f.kind in ${kindList("erc20_transfer", "wrapped_deposit")} and f.to_address = a.maker and ${counted}
      union all
      select -f.amount, f.block_id from ${recompute.facts} f
      where f.kind in ${kindList("erc20_transfer", "wrapped_withdrawal")} and f.from_address = a.maker and ${counted}
    ) move`;
}

/** An approval or a reading, whichever is later; at the same height the reading, which is of the end of the block. */
function newestAllowance(recompute: RecomputeSet): RawBuilder<unknown> {
  const newest = (kind: FactKind) => sql`
    select f.amount as wei, f.block_id, f.log_index from ${recompute.facts} f
    where f.kind in ${kindList(kind)} and f.from_address = a.maker and f.contract_id = k.contract_id
      and f.to_address = ${exchange} and ${isEffective(recompute)}
    order by f.block_id desc, f.log_index desc, f.position desc limit 1`;
  return sql`
    select e.* from ((${newest("erc20_approval")}) union all (${newest("allowance_read")})) e
    order by e.block_id >> 12 desc, e.log_index desc nulls first limit 1`;
}

/** Wei that fills of the makers' bids spent since that allowance, of bids to recompute and of other stored ones. */
function spentSince(stored: Relation, recompute: RecomputeSet): RawBuilder<unknown> {
  const since = sql`o.filled_block_id >= (t.allowance_block >> 12) << 12 and t.allowance_wei <> ${UNLIMITED}`;
  return sql`
    select t.chain_id, t.currency, t.maker, sum(f.wei) as wei, max(f.block_id) as block_id
    from (
      select t.*, o.order_hash from known t join conditions o using (chain_id, currency, maker) where ${since}
      union all
      select t.*, o.order_hash from known t cross join lateral (
        select o.order_hash from ${stored} o
        where o.maker = t.maker and o.chain_id = t.chain_id and o.currency = t.currency and ${since} offset 0
      ) o
      where not exists (
        select from ${recompute.orders} j where j.chain_id = t.chain_id and j.order_hash = o.order_hash
      )
    ) t
    cross join lateral (
      select f.block_id, (
               select sum((item ->> 'amount')::numeric) from jsonb_array_elements(f.payload -> 'offer') item
               where (item ->> 'itemType')::int = 1 and decode(substr(item ->> 'token', 3), 'hex') = t.currency
             ) as wei
      from ${recompute.facts} f join log.contract x using (contract_id)
      where f.order_hash = t.order_hash and f.kind in ${kindList("order_fulfilled")} and ${isEffective(recompute)}
        and x.chain_id = t.chain_id and x.address = ${exchange}
        and (f.block_id >> 12, f.log_index) > (t.allowance_block >> 12, t.allowance_log)
      offset 0
    ) f
    group by t.chain_id, t.currency, t.maker`;
}

/** An allowance that spending does not reduce. WETH9 `transferFrom`. */
const UNLIMITED_ALLOWANCE = sql.raw(`${2n ** 256n - 1n}`);

const account = { contract_id: "contract_id", from_address: "maker" };

/** The balance that a reading `o`, the only row of `recompute.orders`, is compared with: `amount`; zero without a fact. */
export function knownBalances(recompute: RecomputeSet): RawBuilder<unknown> {
  const read = latestReadings(recompute, { kinds: ["balance_read"], subject: account });
  const since = sql`
    f.contract_id = o.contract_id and f.block_id >= coalesce(((r.block_id >> 12) + 1) << 12, 0) and ${isEffective(recompute)}`;
  return sql`
    select coalesce(r.amount, 0) + moved.wei as amount
    from (select) one left join (${read}) r on true
    cross join lateral (
      select coalesce(sum(leg.wei), 0) as wei
      from (
        select f.amount as wei from ${recompute.facts} f
        where f.to_address = o.maker and f.kind in ${kindList("erc20_transfer", "wrapped_deposit")} and ${since}
        union all
        select -f.amount from ${recompute.facts} f
        where f.from_address = o.maker and f.kind in ${kindList("erc20_transfer", "wrapped_withdrawal")} and ${since}
      ) leg
    ) moved`;
}

/** The same of the allowance to the exchange, less fills of bids. */
export function knownAllowances(recompute: RecomputeSet): RawBuilder<unknown> {
  const approved = latestFacts(recompute, {
    kinds: ["erc20_approval", "allowance_read"],
    subject: { ...account, to_address: "to_address" },
  });
  return sql`
    select case when a.amount is distinct from ${UNLIMITED_ALLOWANCE}
                       then greatest(coalesce(a.amount, 0) - spent.wei, 0) else a.amount end as amount
    from (select) one left join (${approved}) a on true
    cross join lateral (
      select coalesce(sum(item.wei), 0) as wei
      from bids.bid b
      join ${recompute.facts} f on f.order_hash = b.order_hash and f.kind in ${kindList("order_fulfilled")}
      cross join lateral (
        select sum((entry ->> 'amount')::numeric) as wei
        from jsonb_array_elements(f.payload -> 'offer') entry where (entry ->> 'itemType')::int = 1
      ) item
      where b.maker = o.maker and b.chain_id = o.chain_id and b.filled_block_id is not null
        and f.contract_id = (select v.exchange_id from (${exchangeContracts}) v where v.chain_id = o.chain_id)
        and (f.block_id >> 12, f.log_index) > (a.block_id >> 12, coalesce(a.log_index, 2147483647))
        and ${isEffective(recompute)}
    ) spent`;
}
