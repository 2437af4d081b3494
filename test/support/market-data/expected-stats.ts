import { type RawBuilder, sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";

/**
 * Expected rows of `collection_stats.collection`, each with that of `holder_stats`, computed from all orders, owners,
 * sales, prices and snapshots.
 */
export async function computeExpectedStats(db: Database): Promise<unknown[]> {
  const { rows } = await sql<{ stats: unknown }>`
    with period_clock as (
      select date_trunc('minute', greatest(
        (select to_timestamp(max(amount)) from log.fact where kind = ${sql.lit(factKind.clock_ticked)}),
        (select max(taken_at) from floors.snapshot)
      ), 'UTC') as minute
    ), clock as (
      select chain_id, max(taken_at) as taken_at from floors.snapshot group by chain_id
    ), own as (
      select c.collection_id, c.chain_id, c.verified,
             array(select contract_id from collections.contract m where m.collection_id = c.collection_id) as contracts
      from collections.collection c
    ), sale as (
      select s.contract_id, date_trunc('minute', s.timestamp, 'UTC') as minute,
             case when n.ours then s.total_wei else 0 end as wei, case when p.price is not null and n.ours then s.total_wei else 0 end as priced_wei,
             s.total_wei > 0 and (p.price is null or not n.ours) as is_unpriced,
             w.rule is not null as is_wash,
             case when n.ours then coalesce(div(s.total_wei * p.price, 1000000000000000000), 0) else 0 end as usd
      from sales.sale s
      left join sales.wash_trade w using (block_id, transaction_index, ordinal)
      cross join lateral (
        select s.currency = decode(repeat('00', 20), 'hex')
               or s.currency = '\\xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2' as ours
      ) n
      cross join lateral (
        select (array_agg(price_e8 order by minute desc))[1] as price from coin_prices.tick
        where coin = 'ethereum' and minute between s.timestamp - interval '2 hours' and s.timestamp
      ) p
    )
    select jsonb_build_object(
      'collection_id', f.collection_id, 'chain_id', f.chain_id, 'verified', f.verified,
      'listed', (select count(distinct (contract_id, token_id)) from listings.listing
                 where contract_id = any (f.contracts) and status = 'active'),
      'supply', (select coalesce(sum(case when standard = 1155 then units else supply end), 0)
                 from ownership.collection where contract_id = any (f.contracts)),
      'holders', (select count(distinct owner) from ownership.holder where contract_id = any (f.contracts)),
      'floor_wei', (select min(unit_price_wei) from listings.listing
                    where contract_id = any (f.contracts) and status = 'active'),
      'floor', ${cheapest(sql`true`)}, 'floor_buyable', ${cheapest(sql`is_buyable`)},
      'best_offer', (
        select jsonb_build_object('priceWei', unit_price_wei::text, 'sellerNetWei', seller_net_wei::text,
                                  'orderHash', '0x' || encode(order_hash, 'hex'))
        from bids.bid where contract_id = any (f.contracts) and kind = 'collection' and status = 'active'
          and ${isForSomething}
        order by seller_net_wei desc, position limit 1),
      'next_change_at', least(
        (select min(case when status = 'active' then end_time else start_time end) from listings.listing
         where contract_id = any (f.contracts) and (status = 'active' or reason = 'not_started')),
        (select end_time from bids.bid
         where contract_id = any (f.contracts) and kind = 'collection' and status = 'active' and ${isForSomething}
         order by seller_net_wei desc, position limit 1),
        (select min(start_time) from bids.bid
         where contract_id = any (f.contracts) and kind = 'collection' and reason = 'not_started'))
    ) || (
      select jsonb_object_agg('sales_' || w.name, w.sales) || jsonb_object_agg('wei_' || w.name, w.wei)
             || jsonb_object_agg('priced_wei_' || w.name, w.priced_wei) || jsonb_object_agg('usd_e8_' || w.name, w.usd)
             || jsonb_object_agg('unpriced_sales_' || w.name, w.unpriced_sales)
             || jsonb_object_agg('wash_sales_' || w.name, w.wash_sales) || jsonb_object_agg('wash_wei_' || w.name, w.wash_wei)
      from (
        select period.name, count(t.minute) as sales, coalesce(sum(t.wei), 0) as wei,
               coalesce(sum(t.priced_wei), 0) as priced_wei, coalesce(sum(t.usd), 0) as usd,
               count(*) filter (where t.is_unpriced) as unpriced_sales,
               count(*) filter (where t.is_wash) as wash_sales,
               coalesce(sum(t.wei) filter (where t.is_wash), 0) as wash_wei
        from (values ('24h', 24), ('7d', 168), ('30d', 720), ('all', null)) period (name, hours)
        left join period_clock k on true
        left join sale t on t.contract_id = any (f.contracts)
          and (period.hours is null or t.minute >= k.minute - period.hours * interval '1 hour')
        group by period.name
      ) w
    ) || (
      select jsonb_object_agg('change_' || period.name, (
        select round((now.wei - was.wei) * 1000000 / was.wei)
        from (select min(unit_price_wei) as wei from listings.listing
              where contract_id = any (f.contracts) and status = 'active') now,
             (select min(x.price_wei) as wei from floors.floor x
              cross join (
                select max(s.taken_at) as taken_at from floors.snapshot s join clock k using (chain_id)
                where s.chain_id = f.chain_id and s.taken_at <= k.taken_at - period.hours * interval '1 hour'
                  and s.taken_at > k.taken_at - (period.hours + 1) * interval '1 hour'
              ) s
              where x.contract_id = any (f.contracts) and x.valid_from <= s.taken_at
                and (x.valid_until is null or x.valid_until > s.taken_at)) was))
      from (values ('24h', 24), ('7d', 168), ('30d', 720)) period (name, hours)
    ) as stats
    from own f
    order by f.collection_id`.execute(db);
  return rows.map(({ stats }) => stats);
}

/** SQL: whether a token of the bid's contract may be held: some owner has one, none was ever moved, or one is from before. */
const isForSomething = sql`(
  exists (select from ownership.holder h where h.contract_id = bid.contract_id)
  or coalesce((select case when o.standard = 1155 then o.units else o.supply end <> 0
               from ownership.collection o where o.contract_id = bid.contract_id), true))`;

/** SQL: the cheapest listing of collection `f`. */
function cheapest(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select jsonb_build_object('priceWei', unit_price_wei::text, 'orderHash', '0x' || encode(order_hash, 'hex'),
                              'contract', (select '0x' || encode(k.address, 'hex') from log.contract k where k.contract_id = listing.contract_id),
                              'tokenId', token_id::text, 'marketplace', marketplace, 'isBuyable', is_buyable,
                              'currency', '0x' || encode(currency, 'hex'))
    from listings.listing where contract_id = any (f.contracts) and status = 'active' and ${condition}
    order by unit_price_wei, position limit 1)`;
}
