select engine.open_scratch(name, columns)
from unnest($1::text[], $2::text[]) scratch (name, columns);

with contracts as (delete from pg_temp.affected_contract), figures as (delete from pg_temp.figure_delta)
delete from pg_temp.affected_collection;

insert into "collection_stats"."token" (contract_id, token_id, is_listed, next_change_at)
  select l.contract_id, l.token_id, 
coalesce(bool_or(l.status = 'active'), false) as is_listed,
min(case when l.status = 'active' then l.end_time else l.start_time end) as next_change_at from listings.listing l where 
l.status in ('active', 'inactive') and (l.status = 'active' or l.reason = 'not_started')
  group by l.contract_id, l.token_id;

insert into pg_temp.figure_delta (contract_id, listed)
select contract_id, count(*) from "collection_stats"."token" where is_listed group by contract_id;

insert into "collection_stats"."minute_sales" (contract_id, minute, chain_id, "first_block_id", "last_block_id", "last_at", "sales", "wei", "priced_wei", "unpriced_sales", "usd_e8")
  select contract_id, minute, chain_id, "first_block_id", "last_block_id", "last_at", "sales", "wei", "priced_wei", "unpriced_sales", "usd_e8"
  from (
    select s.contract_id, date_trunc('minute', s.timestamp, 'UTC') as minute, s.chain_id, 
min(s.block_id) as first_block_id, max(s.block_id) as last_block_id, max(s.timestamp) as last_at,
count(*)::numeric as sales, coalesce(sum(s.total_wei) filter (where native.coin is not null), 0) as wei,
coalesce(sum(s.total_wei) filter (where p.price_e8 is not null), 0) as priced_wei,
count(*) filter (where p.price_e8 is null and s.total_wei > 0)::numeric as unpriced_sales, coalesce(sum(div(s.total_wei * p.price_e8, 1000000000000000000)), 0) as usd_e8
    from sales.sale s 
left join (values (1, 'ethereum'), (33139, 'apecoin')) native (chain_id, coin) on native.chain_id = s.chain_id and (s.chain_id, s.currency) in ((1, '\x0000000000000000000000000000000000000000'::bytea), (1, '\xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'::bytea), (33139, '\x0000000000000000000000000000000000000000'::bytea), (33139, '\x48b62137edfa95a428d35c09e44256a739f6b557'::bytea))
cross join lateral (select (
  select t.price_e8 from coin_prices.tick t
  where t.coin = native.coin and t.minute <= s.timestamp and t.minute >= s.timestamp - interval '2 hours'
  order by t.minute desc limit 1
) as price_e8 offset 0) p group by 1, 2, 3
  ) d;

insert into pg_temp.figure_delta (contract_id, "sales_all", "wei_all", "priced_wei_all", "unpriced_sales_all", "usd_e8_all")
select contract_id, sum("sales"), sum("wei"), sum("priced_wei"), sum("unpriced_sales"), sum("usd_e8")
from "collection_stats"."minute_sales" group by contract_id;

insert into "collection_stats"."wash_trade" (block_id, transaction_index, ordinal, contract_id, token_id, chain_id, minute, wei)
  select block_id, transaction_index, ordinal, contract_id, token_id, chain_id, minute, wei from (
select w.block_id, w.transaction_index, w.ordinal, w.contract_id, w.token_id, s.chain_id,
       date_trunc('minute', s.timestamp, 'UTC') as minute,
       case when native.coin is null then 0 else s.total_wei end as wei
from sales.wash_trade w join sales.sale s using (block_id, transaction_index, ordinal)
left join (values (1, 'ethereum'), (33139, 'apecoin')) native (chain_id, coin) on native.chain_id = s.chain_id and (s.chain_id, s.currency) in ((1, '\x0000000000000000000000000000000000000000'::bytea), (1, '\xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'::bytea), (33139, '\x0000000000000000000000000000000000000000'::bytea), (33139, '\x48b62137edfa95a428d35c09e44256a739f6b557'::bytea))) d;

insert into pg_temp.figure_delta (contract_id, "wash_sales_all", "wash_wei_all")
select contract_id, count(*), sum(wei) from "collection_stats"."wash_trade" group by contract_id;

delete from pg_temp.advanced_period_clock;

insert into pg_temp.advanced_period_clock
  select date_trunc('minute', to_timestamp(tick.at), 'UTC'), k.minute
  from (
    select greatest(nullif(coalesce((
  select f.amount from log.fact f where f.kind = 81 and f.position <= $1
  order by f.amount desc limit 1
), 0)::bigint, 0), extract(epoch from (
select max(last.taken_at)
from unnest(array[1, 33139]) one (chain_id)
cross join lateral (
  select max(s.taken_at) as taken_at from floors.snapshot s where s.chain_id = one.chain_id
) last)))::float8 as at
  ) tick left join "collection_stats"."period_clock" k on true
  where tick.at is not null and date_trunc('minute', to_timestamp(tick.at), 'UTC') is distinct from k.minute;

delete from pg_temp.advanced_clock;

insert into pg_temp.advanced_clock
select last.chain_id, last.snapshot_at, c.snapshot_at, (
select max(s.taken_at) from floors.snapshot s
where s.chain_id = last.chain_id and s.taken_at <= last.snapshot_at - interval '24 hours' and s.taken_at > last.snapshot_at - interval '24 hours' - interval '1 hour'), c."before_24h", (
select max(s.taken_at) from floors.snapshot s
where s.chain_id = last.chain_id and s.taken_at <= last.snapshot_at - interval '168 hours' and s.taken_at > last.snapshot_at - interval '168 hours' - interval '1 hour'), c."before_7d", (
select max(s.taken_at) from floors.snapshot s
where s.chain_id = last.chain_id and s.taken_at <= last.snapshot_at - interval '720 hours' and s.taken_at > last.snapshot_at - interval '720 hours' - interval '1 hour'), c."before_30d"
from (
  select chain_id, (select max(s.taken_at) from floors.snapshot s where s.chain_id = one.chain_id) as snapshot_at
  from unnest(array[1, 33139]) one (chain_id)
) last
left join "collection_stats"."snapshot_clock" c using (chain_id)
where last.snapshot_at is not null and last.snapshot_at is distinct from c.snapshot_at;

insert into pg_temp.affected_contract
select contract_id from collections.contract union select contract_id from pg_temp.figure_delta;

analyze pg_temp.affected_contract;

with delta as materialized (
  select t.contract_id, k.chain_id, n.collection_id, o.collection_id as old_collection_id,
         o.contract_id is null as is_new, o.collection_id is distinct from n.collection_id as is_reassigned,
         n.collection_id is not null or coalesce(o.sales_all, 0) + coalesce(d.sales_all, 0) <> 0
           or coalesce(o.listed, 0) + coalesce(d.listed, 0) <> 0 as is_known,
         coalesce(d."listed", 0) as "listed", coalesce(d."sales_24h", 0) as "sales_24h", coalesce(d."sales_7d", 0) as "sales_7d", coalesce(d."sales_30d", 0) as "sales_30d", coalesce(d."sales_all", 0) as "sales_all", coalesce(d."wei_24h", 0) as "wei_24h", coalesce(d."wei_7d", 0) as "wei_7d", coalesce(d."wei_30d", 0) as "wei_30d", coalesce(d."wei_all", 0) as "wei_all", coalesce(d."priced_wei_24h", 0) as "priced_wei_24h", coalesce(d."priced_wei_7d", 0) as "priced_wei_7d", coalesce(d."priced_wei_30d", 0) as "priced_wei_30d", coalesce(d."priced_wei_all", 0) as "priced_wei_all", coalesce(d."unpriced_sales_24h", 0) as "unpriced_sales_24h", coalesce(d."unpriced_sales_7d", 0) as "unpriced_sales_7d", coalesce(d."unpriced_sales_30d", 0) as "unpriced_sales_30d", coalesce(d."unpriced_sales_all", 0) as "unpriced_sales_all", coalesce(d."usd_e8_24h", 0) as "usd_e8_24h", coalesce(d."usd_e8_7d", 0) as "usd_e8_7d", coalesce(d."usd_e8_30d", 0) as "usd_e8_30d", coalesce(d."usd_e8_all", 0) as "usd_e8_all", coalesce(d."wash_sales_24h", 0) as "wash_sales_24h", coalesce(d."wash_sales_7d", 0) as "wash_sales_7d", coalesce(d."wash_sales_30d", 0) as "wash_sales_30d", coalesce(d."wash_sales_all", 0) as "wash_sales_all", coalesce(d."wash_wei_24h", 0) as "wash_wei_24h", coalesce(d."wash_wei_7d", 0) as "wash_wei_7d", coalesce(d."wash_wei_30d", 0) as "wash_wei_30d", coalesce(d."wash_wei_all", 0) as "wash_wei_all"
  from (select distinct contract_id from pg_temp.affected_contract) t
  join log.contract k using (contract_id)
  left join collections.contract n using (contract_id)
  left join "collection_stats"."contract" o using (contract_id)
  left join (select contract_id, sum("listed") as "listed", sum("sales_24h") as "sales_24h", sum("sales_7d") as "sales_7d", sum("sales_30d") as "sales_30d", sum("sales_all") as "sales_all", sum("wei_24h") as "wei_24h", sum("wei_7d") as "wei_7d", sum("wei_30d") as "wei_30d", sum("wei_all") as "wei_all", sum("priced_wei_24h") as "priced_wei_24h", sum("priced_wei_7d") as "priced_wei_7d", sum("priced_wei_30d") as "priced_wei_30d", sum("priced_wei_all") as "priced_wei_all", sum("unpriced_sales_24h") as "unpriced_sales_24h", sum("unpriced_sales_7d") as "unpriced_sales_7d", sum("unpriced_sales_30d") as "unpriced_sales_30d", sum("unpriced_sales_all") as "unpriced_sales_all", sum("usd_e8_24h") as "usd_e8_24h", sum("usd_e8_7d") as "usd_e8_7d", sum("usd_e8_30d") as "usd_e8_30d", sum("usd_e8_all") as "usd_e8_all", sum("wash_sales_24h") as "wash_sales_24h", sum("wash_sales_7d") as "wash_sales_7d", sum("wash_sales_30d") as "wash_sales_30d", sum("wash_sales_all") as "wash_sales_all", sum("wash_wei_24h") as "wash_wei_24h", sum("wash_wei_7d") as "wash_wei_7d", sum("wash_wei_30d") as "wash_wei_30d", sum("wash_wei_all") as "wash_wei_all" from pg_temp.figure_delta group by contract_id) d using (contract_id)
), updated as (
  update "collection_stats"."contract" c set collection_id = m.collection_id, "listed" = c."listed" + m."listed", "sales_24h" = c."sales_24h" + m."sales_24h", "sales_7d" = c."sales_7d" + m."sales_7d", "sales_30d" = c."sales_30d" + m."sales_30d", "sales_all" = c."sales_all" + m."sales_all", "wei_24h" = c."wei_24h" + m."wei_24h", "wei_7d" = c."wei_7d" + m."wei_7d", "wei_30d" = c."wei_30d" + m."wei_30d", "wei_all" = c."wei_all" + m."wei_all", "priced_wei_24h" = c."priced_wei_24h" + m."priced_wei_24h", "priced_wei_7d" = c."priced_wei_7d" + m."priced_wei_7d", "priced_wei_30d" = c."priced_wei_30d" + m."priced_wei_30d", "priced_wei_all" = c."priced_wei_all" + m."priced_wei_all", "unpriced_sales_24h" = c."unpriced_sales_24h" + m."unpriced_sales_24h", "unpriced_sales_7d" = c."unpriced_sales_7d" + m."unpriced_sales_7d", "unpriced_sales_30d" = c."unpriced_sales_30d" + m."unpriced_sales_30d", "unpriced_sales_all" = c."unpriced_sales_all" + m."unpriced_sales_all", "usd_e8_24h" = c."usd_e8_24h" + m."usd_e8_24h", "usd_e8_7d" = c."usd_e8_7d" + m."usd_e8_7d", "usd_e8_30d" = c."usd_e8_30d" + m."usd_e8_30d", "usd_e8_all" = c."usd_e8_all" + m."usd_e8_all", "wash_sales_24h" = c."wash_sales_24h" + m."wash_sales_24h", "wash_sales_7d" = c."wash_sales_7d" + m."wash_sales_7d", "wash_sales_30d" = c."wash_sales_30d" + m."wash_sales_30d", "wash_sales_all" = c."wash_sales_all" + m."wash_sales_all", "wash_wei_24h" = c."wash_wei_24h" + m."wash_wei_24h", "wash_wei_7d" = c."wash_wei_7d" + m."wash_wei_7d", "wash_wei_30d" = c."wash_wei_30d" + m."wash_wei_30d", "wash_wei_all" = c."wash_wei_all" + m."wash_wei_all"
  from delta m
  where m.is_known and not m.is_new and c.contract_id = m.contract_id and (m.is_reassigned or (m."listed" <> 0 or m."sales_24h" <> 0 or m."sales_7d" <> 0 or m."sales_30d" <> 0 or m."sales_all" <> 0 or m."wei_24h" <> 0 or m."wei_7d" <> 0 or m."wei_30d" <> 0 or m."wei_all" <> 0 or m."priced_wei_24h" <> 0 or m."priced_wei_7d" <> 0 or m."priced_wei_30d" <> 0 or m."priced_wei_all" <> 0 or m."unpriced_sales_24h" <> 0 or m."unpriced_sales_7d" <> 0 or m."unpriced_sales_30d" <> 0 or m."unpriced_sales_all" <> 0 or m."usd_e8_24h" <> 0 or m."usd_e8_7d" <> 0 or m."usd_e8_30d" <> 0 or m."usd_e8_all" <> 0 or m."wash_sales_24h" <> 0 or m."wash_sales_7d" <> 0 or m."wash_sales_30d" <> 0 or m."wash_sales_all" <> 0 or m."wash_wei_24h" <> 0 or m."wash_wei_7d" <> 0 or m."wash_wei_30d" <> 0 or m."wash_wei_all" <> 0))
), removed as (
  delete from "collection_stats"."contract" c using delta m where not m.is_known and c.contract_id = m.contract_id
), inserted as (
  insert into "collection_stats"."contract" (contract_id, chain_id, collection_id, "listed", "sales_24h", "sales_7d", "sales_30d", "sales_all", "wei_24h", "wei_7d", "wei_30d", "wei_all", "priced_wei_24h", "priced_wei_7d", "priced_wei_30d", "priced_wei_all", "unpriced_sales_24h", "unpriced_sales_7d", "unpriced_sales_30d", "unpriced_sales_all", "usd_e8_24h", "usd_e8_7d", "usd_e8_30d", "usd_e8_all", "wash_sales_24h", "wash_sales_7d", "wash_sales_30d", "wash_sales_all", "wash_wei_24h", "wash_wei_7d", "wash_wei_30d", "wash_wei_all")
  select contract_id, chain_id, collection_id, "listed", "sales_24h", "sales_7d", "sales_30d", "sales_all", "wei_24h", "wei_7d", "wei_30d", "wei_all", "priced_wei_24h", "priced_wei_7d", "priced_wei_30d", "priced_wei_all", "unpriced_sales_24h", "unpriced_sales_7d", "unpriced_sales_30d", "unpriced_sales_all", "usd_e8_24h", "usd_e8_7d", "usd_e8_30d", "usd_e8_all", "wash_sales_24h", "wash_sales_7d", "wash_sales_30d", "wash_sales_all", "wash_wei_24h", "wash_wei_7d", "wash_wei_30d", "wash_wei_all" from delta m
  where is_new and is_known
), transferred as (
  select distinct contract_id from change where kind in (10, 11, 12) and $1
)
insert into pg_temp.affected_collection (collection_id, recount_holders, contracts_changed)
select f.collection_id, bool_or(f.is_reassigned or $2 or r.contract_id is not null),
       bool_or(f.is_reassigned)
from (
  select collection_id, contract_id, is_reassigned from delta where collection_id is not null
  union all
  select old_collection_id, contract_id, is_reassigned from delta where old_collection_id is not null
) f
left join transferred r using (contract_id)
group by f.collection_id
returning contracts_changed;

analyze "collection_stats"."token";

analyze "collection_stats"."minute_sales";

analyze "collection_stats"."wash_trade";

analyze "collection_stats"."contract";

select f.chain_id, f.verified, count(*) as collections
from pg_temp.affected_collection t join "collection_stats"."collection" f using (collection_id)
group by f.chain_id, f.verified;

delete from "collection_stats"."collection" f using pg_temp.affected_collection t
where f.collection_id = t.collection_id
  and not exists (select from collections.collection c where c.collection_id = t.collection_id);

delete from "collection_stats"."holder_stats" f using pg_temp.affected_collection t
where f.collection_id = t.collection_id
  and not exists (select from collections.collection c where c.collection_id = t.collection_id);

delete from "collection_stats"."search_text" f using pg_temp.affected_collection t
where f.collection_id = t.collection_id
  and not exists (select from collections.collection c where c.collection_id = t.collection_id);

with derived as materialized (
    select f.collection_id, d.*
    from (
      select t.*, l.chain_id, l.verified
      from pg_temp.affected_collection t join collections.collection l using (collection_id)
    ) f
    cross join lateral (
  select f.chain_id, f.verified, totals.*, owned.supply,
         case when cardinality(totals.contracts) = 1 then owned.holders else (
  select case when f.recount_holders or stored.holders is null then (
           select count(distinct h.owner) from ownership.holder h where h.contract_id = any (totals.contracts)
         )::numeric else stored.holders end
  from (select) one left join "collection_stats"."holder_stats" stored on stored.collection_id = f.collection_id) end as holders,
         orders.floor_wei, orders.floor, orders.floor_buyable, orders.best_offer,
         least(
           orders.best_ends_at,
           (select min(t.next_change_at) from unnest(totals.contracts) c (contract_id) cross join lateral (
              select next_change_at from "collection_stats"."token" t
              where t.contract_id = c.contract_id order by next_change_at limit 1
            ) t),
           (select min(o.start_time) from bids.bid o
            where o.contract_id = any (totals.contracts) and o.kind = 'collection' and o.status = 'inactive'
              and o.reason = 'not_started')
         ) as next_change_at,
  (select round((orders.floor_wei - min(past.price_wei)) * 1000000 / min(past.price_wei))
   from "collection_stats"."snapshot_clock" k cross join unnest(totals.contracts) c (contract_id)
   cross join lateral (
     select s.price_wei, s.valid_until from floors.floor s
     where s.contract_id = c.contract_id and s.valid_from <= k."before_24h"
     order by s.valid_from desc limit 1
   ) past
   where k.chain_id = f.chain_id and orders.floor_wei is not null
     and (past.valid_until is null or past.valid_until > k."before_24h")) as "change_24h", 
  (select round((orders.floor_wei - min(past.price_wei)) * 1000000 / min(past.price_wei))
   from "collection_stats"."snapshot_clock" k cross join unnest(totals.contracts) c (contract_id)
   cross join lateral (
     select s.price_wei, s.valid_until from floors.floor s
     where s.contract_id = c.contract_id and s.valid_from <= k."before_7d"
     order by s.valid_from desc limit 1
   ) past
   where k.chain_id = f.chain_id and orders.floor_wei is not null
     and (past.valid_until is null or past.valid_until > k."before_7d")) as "change_7d", 
  (select round((orders.floor_wei - min(past.price_wei)) * 1000000 / min(past.price_wei))
   from "collection_stats"."snapshot_clock" k cross join unnest(totals.contracts) c (contract_id)
   cross join lateral (
     select s.price_wei, s.valid_until from floors.floor s
     where s.contract_id = c.contract_id and s.valid_from <= k."before_30d"
     order by s.valid_from desc limit 1
   ) past
   where k.chain_id = f.chain_id and orders.floor_wei is not null
     and (past.valid_until is null or past.valid_until > k."before_30d")) as "change_30d"
  from (
    select array_agg(contract_id) as contracts, sum("listed") as "listed", sum("sales_24h") as "sales_24h", sum("sales_7d") as "sales_7d", sum("sales_30d") as "sales_30d", sum("sales_all") as "sales_all", sum("wei_24h") as "wei_24h", sum("wei_7d") as "wei_7d", sum("wei_30d") as "wei_30d", sum("wei_all") as "wei_all", sum("priced_wei_24h") as "priced_wei_24h", sum("priced_wei_7d") as "priced_wei_7d", sum("priced_wei_30d") as "priced_wei_30d", sum("priced_wei_all") as "priced_wei_all", sum("unpriced_sales_24h") as "unpriced_sales_24h", sum("unpriced_sales_7d") as "unpriced_sales_7d", sum("unpriced_sales_30d") as "unpriced_sales_30d", sum("unpriced_sales_all") as "unpriced_sales_all", sum("usd_e8_24h") as "usd_e8_24h", sum("usd_e8_7d") as "usd_e8_7d", sum("usd_e8_30d") as "usd_e8_30d", sum("usd_e8_all") as "usd_e8_all", sum("wash_sales_24h") as "wash_sales_24h", sum("wash_sales_7d") as "wash_sales_7d", sum("wash_sales_30d") as "wash_sales_30d", sum("wash_sales_all") as "wash_sales_all", sum("wash_wei_24h") as "wash_wei_24h", sum("wash_wei_7d") as "wash_wei_7d", sum("wash_wei_30d") as "wash_wei_30d", sum("wash_wei_all") as "wash_wei_all"
    from "collection_stats"."contract" where collection_id = f.collection_id
  ) totals
  cross join lateral (
    select coalesce(sum(case when o.standard = 1155 then o.units else o.supply end), 0)::numeric as supply,
           coalesce(sum(o.holders), 0)::numeric as holders
    from ownership.collection o where o.contract_id = any (totals.contracts)
  ) owned
  cross join lateral (
  select floor.unit_price_wei as floor_wei, floor.shown as floor, buyable.shown as floor_buyable,
         offer.shown as best_offer, offer.end_time as best_ends_at
  from (select) one
  left join lateral (
  select o.unit_price_wei, 
jsonb_build_object('priceWei', o.unit_price_wei::text, 'orderHash', '0x' || encode(o.order_hash, 'hex'),
                   'contract', (select '0x' || encode(k.address, 'hex') from log.contract k where k.contract_id = o.contract_id),
                   'tokenId', o.token_id::text, 'marketplace', o.marketplace, 'isBuyable', o.is_buyable,
                   'currency', '0x' || encode(o.currency, 'hex')) as shown
  from unnest(totals.contracts) c (contract_id) cross join lateral (
    select o.* from listings.listing o
    where o.contract_id = c.contract_id and o.status = 'active' and true and true
    order by o.unit_price_wei, o.position limit 1
  ) o
  order by o.unit_price_wei, o.position limit 1) floor on true
  left join lateral (
  select o.unit_price_wei, 
jsonb_build_object('priceWei', o.unit_price_wei::text, 'orderHash', '0x' || encode(o.order_hash, 'hex'),
                   'contract', (select '0x' || encode(k.address, 'hex') from log.contract k where k.contract_id = o.contract_id),
                   'tokenId', o.token_id::text, 'marketplace', o.marketplace, 'isBuyable', o.is_buyable,
                   'currency', '0x' || encode(o.currency, 'hex')) as shown
  from unnest(totals.contracts) c (contract_id) cross join lateral (
    select o.* from listings.listing o
    where o.contract_id = c.contract_id and o.status = 'active' and true and o.is_buyable and floor.shown is not null
    order by o.unit_price_wei, o.position limit 1
  ) o
  order by o.unit_price_wei, o.position limit 1) buyable on true
  left join lateral (
    select o.end_time, 
jsonb_build_object('priceWei', o.unit_price_wei::text, 'sellerNetWei', o.seller_net_wei::text,
                   'orderHash', '0x' || encode(o.order_hash, 'hex')) as shown
    from unnest(totals.contracts) c (contract_id) cross join lateral (
      select o.* from bids.bid o
      where o.contract_id = c.contract_id and o.kind = 'collection' and o.status = 'active' and true
        and not exists (
select from ownership.collection held where held.contract_id = c.contract_id and held.holders = 0
  and case when held.standard = 1155 then held.units else held.supply end = 0)
      order by o.seller_net_wei desc, o.position limit 1
    ) o
    order by o.seller_net_wei desc, o.position limit 1
  ) offer on true) orders offset 0) d
  ), stored_holder_stats as (
  insert into "collection_stats"."holder_stats" (collection_id, "chain_id", "verified", "supply", "holders")
  select d.collection_id, "d"."chain_id", "d"."verified", "d"."supply", "d"."holders"
  from derived d
  left join lateral (
    select o.* from "collection_stats"."holder_stats" o where o.collection_id = d.collection_id offset 0
  ) old on true
  where ("old"."chain_id", "old"."verified", "old"."supply", "old"."holders") is distinct from ("d"."chain_id", "d"."verified", "d"."supply", "d"."holders")
  on conflict (collection_id) do update
    set "chain_id" = excluded."chain_id", "verified" = excluded."verified", "supply" = excluded."supply", "holders" = excluded."holders")
  insert into "collection_stats"."collection" (collection_id, "chain_id", "verified", "listed", "sales_24h", "sales_7d", "sales_30d", "sales_all", "wei_24h", "wei_7d", "wei_30d", "wei_all", "priced_wei_24h", "priced_wei_7d", "priced_wei_30d", "priced_wei_all", "unpriced_sales_24h", "unpriced_sales_7d", "unpriced_sales_30d", "unpriced_sales_all", "usd_e8_24h", "usd_e8_7d", "usd_e8_30d", "usd_e8_all", "wash_sales_24h", "wash_sales_7d", "wash_sales_30d", "wash_sales_all", "wash_wei_24h", "wash_wei_7d", "wash_wei_30d", "wash_wei_all", "floor_wei", "floor", "floor_buyable", "best_offer", "next_change_at", "change_24h", "change_7d", "change_30d")
  select d.collection_id, "d"."chain_id", "d"."verified", "d"."listed", "d"."sales_24h", "d"."sales_7d", "d"."sales_30d", "d"."sales_all", "d"."wei_24h", "d"."wei_7d", "d"."wei_30d", "d"."wei_all", "d"."priced_wei_24h", "d"."priced_wei_7d", "d"."priced_wei_30d", "d"."priced_wei_all", "d"."unpriced_sales_24h", "d"."unpriced_sales_7d", "d"."unpriced_sales_30d", "d"."unpriced_sales_all", "d"."usd_e8_24h", "d"."usd_e8_7d", "d"."usd_e8_30d", "d"."usd_e8_all", "d"."wash_sales_24h", "d"."wash_sales_7d", "d"."wash_sales_30d", "d"."wash_sales_all", "d"."wash_wei_24h", "d"."wash_wei_7d", "d"."wash_wei_30d", "d"."wash_wei_all", "d"."floor_wei", "d"."floor", "d"."floor_buyable", "d"."best_offer", "d"."next_change_at", "d"."change_24h", "d"."change_7d", "d"."change_30d"
  from derived d
  left join lateral (
    select o.* from "collection_stats"."collection" o where o.collection_id = d.collection_id offset 0
  ) old on true
  where ("old"."chain_id", "old"."verified", "old"."listed", "old"."sales_24h", "old"."sales_7d", "old"."sales_30d", "old"."sales_all", "old"."wei_24h", "old"."wei_7d", "old"."wei_30d", "old"."wei_all", "old"."priced_wei_24h", "old"."priced_wei_7d", "old"."priced_wei_30d", "old"."priced_wei_all", "old"."unpriced_sales_24h", "old"."unpriced_sales_7d", "old"."unpriced_sales_30d", "old"."unpriced_sales_all", "old"."usd_e8_24h", "old"."usd_e8_7d", "old"."usd_e8_30d", "old"."usd_e8_all", "old"."wash_sales_24h", "old"."wash_sales_7d", "old"."wash_sales_30d", "old"."wash_sales_all", "old"."wash_wei_24h", "old"."wash_wei_7d", "old"."wash_wei_30d", "old"."wash_wei_all", "old"."floor_wei", "old"."floor", "old"."floor_buyable", "old"."best_offer", "old"."next_change_at", "old"."change_24h", "old"."change_7d", "old"."change_30d") is distinct from ("d"."chain_id", "d"."verified", "d"."listed", "d"."sales_24h", "d"."sales_7d", "d"."sales_30d", "d"."sales_all", "d"."wei_24h", "d"."wei_7d", "d"."wei_30d", "d"."wei_all", "d"."priced_wei_24h", "d"."priced_wei_7d", "d"."priced_wei_30d", "d"."priced_wei_all", "d"."unpriced_sales_24h", "d"."unpriced_sales_7d", "d"."unpriced_sales_30d", "d"."unpriced_sales_all", "d"."usd_e8_24h", "d"."usd_e8_7d", "d"."usd_e8_30d", "d"."usd_e8_all", "d"."wash_sales_24h", "d"."wash_sales_7d", "d"."wash_sales_30d", "d"."wash_sales_all", "d"."wash_wei_24h", "d"."wash_wei_7d", "d"."wash_wei_30d", "d"."wash_wei_all", "d"."floor_wei", "d"."floor", "d"."floor_buyable", "d"."best_offer", "d"."next_change_at", "d"."change_24h", "d"."change_7d", "d"."change_30d")
  on conflict (collection_id) do update
    set "chain_id" = excluded."chain_id", "verified" = excluded."verified", "listed" = excluded."listed", "sales_24h" = excluded."sales_24h", "sales_7d" = excluded."sales_7d", "sales_30d" = excluded."sales_30d", "sales_all" = excluded."sales_all", "wei_24h" = excluded."wei_24h", "wei_7d" = excluded."wei_7d", "wei_30d" = excluded."wei_30d", "wei_all" = excluded."wei_all", "priced_wei_24h" = excluded."priced_wei_24h", "priced_wei_7d" = excluded."priced_wei_7d", "priced_wei_30d" = excluded."priced_wei_30d", "priced_wei_all" = excluded."priced_wei_all", "unpriced_sales_24h" = excluded."unpriced_sales_24h", "unpriced_sales_7d" = excluded."unpriced_sales_7d", "unpriced_sales_30d" = excluded."unpriced_sales_30d", "unpriced_sales_all" = excluded."unpriced_sales_all", "usd_e8_24h" = excluded."usd_e8_24h", "usd_e8_7d" = excluded."usd_e8_7d", "usd_e8_30d" = excluded."usd_e8_30d", "usd_e8_all" = excluded."usd_e8_all", "wash_sales_24h" = excluded."wash_sales_24h", "wash_sales_7d" = excluded."wash_sales_7d", "wash_sales_30d" = excluded."wash_sales_30d", "wash_sales_all" = excluded."wash_sales_all", "wash_wei_24h" = excluded."wash_wei_24h", "wash_wei_7d" = excluded."wash_wei_7d", "wash_wei_30d" = excluded."wash_wei_30d", "wash_wei_all" = excluded."wash_wei_all", "floor_wei" = excluded."floor_wei", "floor" = excluded."floor", "floor_buyable" = excluded."floor_buyable", "best_offer" = excluded."best_offer", "next_change_at" = excluded."next_change_at", "change_24h" = excluded."change_24h", "change_7d" = excluded."change_7d", "change_30d" = excluded."change_30d";

insert into "collection_stats"."search_text" as n (collection_id, chain_id, verified, terms)
select l.collection_id, l.chain_id, l.verified,
       concat_ws(chr(10), lower(l.name), l.slug, (
         select string_agg('0x' || encode(c.address, 'hex'), chr(10) order by c.address)
         from (
           select (select k.address from log.contract k where k.contract_id = c.contract_id) as address
           from "collection_stats"."contract" c where c.collection_id = l.collection_id
         ) c
       ))
from pg_temp.affected_collection t join collections.collection l using (collection_id)
on conflict (collection_id) do update
  set chain_id = excluded.chain_id, verified = excluded.verified, terms = excluded.terms
  where (n.chain_id, n.verified, n.terms) is distinct from (excluded.chain_id, excluded.verified, excluded.terms);
