select engine.open_scratch(name, columns)
from unnest($1::text[], $2::text[]) scratch (name, columns);

with emptied as (delete from pg_temp."recompute_listing"), terms as materialized (
  select distinct on (order_hash, chain_id) order_hash, chain_id, position, marketplace, contract_id, token_id, standard, maker, currency, unit_price_wei, seller_net_wei, quantity, start_time, end_time, counter, fees, is_conduit_known, is_buyable, is_visible, is_filled_whole, is_contract_signed, created_at, last_seen_at
  from (
    select *,
           case when marketplace = 'native' then true
                when marketplace = any('{opensea}'::text[]) then currency is null
                            else order_type <= 1 and is_conduit_known and bool_or(has_signature) over source end as is_buyable,
           order_type = any('{0,2}'::int[]) as is_filled_whole,
           not first_value(kind in (64)) over latest as is_visible,
           first_value(created_at) over latest as last_seen_at
    from (
  select f.kind, f.order_hash, k.chain_id, f.position, f.contract_id, f.token_id, f.from_address as maker,
         case when f.kind in (70) then 'native' else content.marketplace end as marketplace,
         case terms ->> 'standard' when 'erc721' then 721 else 1155 end::smallint as standard,
         decode(substr(content.currency, 3), 'hex') as currency,
         (terms ->> 'unitPriceWei')::numeric as unit_price_wei, (terms ->> 'sellerNetWei')::numeric as seller_net_wei,
         f.amount as quantity, least((components ->> 'startTime')::numeric, 253402300799)::bigint as start_time,
         least((components ->> 'endTime')::numeric, 253402300799)::bigint as end_time, (components ->> 'counter')::numeric as counter,
         terms -> 'fees' as fees, f.recorded_at as created_at,
         f.kind in (70) or components ->> 'conduitKey' = '0x0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000' as is_conduit_known,
         (components ->> 'orderType')::int as order_type, content.signature is not null as has_signature,
         coalesce(f.payload ->> 'signedBy' = 'contract', false) as is_contract_signed
  from 
  (select order_hash from change where kind in (70, 63, 64) union 
  select c.order_hash from change c join log.block b on b.block_id = c.block_id
  where c.kind = 30
    and b.timestamp < to_timestamp((select ((coalesce((
  select f.amount from log.fact f where f.kind = 81 and f.position <= $1
  order by f.amount desc limit 1
), 0)::bigint - 2592000) / 3600 * 3600)))
  union
  select c.order_hash from change c
  where c.kind = 71) named
  cross join lateral (
    select f.* from log.fact f
    where f.order_hash = named.order_hash and f.kind in (70, 63, 64) and 
  f.position <= $2 and not exists (select from retracted_block d where d.block_id = f.block_id)
   offset 0
  ) f join log.contract k on k.contract_id = f.contract_id
  cross join lateral (
    select * from jsonb_to_record(f.payload)
      as payload (terms jsonb, components jsonb, marketplace text, currency text, signature text)
    offset 0
  ) content
  where f.kind in (64) or terms ->> 'side' = 'ask' offset 0) f
    window source as (partition by order_hash, chain_id, marketplace),
           latest as (partition by order_hash, chain_id, marketplace order by position desc)
  ) stated
  where not kind in (64)
  order by order_hash, chain_id, array_position('{native,opensea,magiceden}'::text[], marketplace), position), affected as materialized (
  select l.order_hash, l.chain_id, l.contract_id, l.token_id, l.maker from "listings"."listing" l where false union 
      select o.* from (select distinct order_hash from change where kind in (30, 31, 71, 79, 82)) c cross join lateral (
        select o.order_hash, o.chain_id, o.contract_id, o.token_id, o.maker from "listings"."listing" o where o.order_hash = c.order_hash offset 0
      ) o union 
      select o.* from (select distinct from_address as maker from change where kind in (32, 72)) c cross join lateral (
        select o.order_hash, o.chain_id, o.contract_id, o.token_id, o.maker from "listings"."listing" o where o.maker = c.maker and o.status <> 'filled' offset 0
      ) o union 
      select o.* from (select distinct contract_id, token_id from change where kind in (10, 74, 83)) c cross join lateral (
        select o.order_hash, o.chain_id, o.contract_id, o.token_id, o.maker from "listings"."listing" o where 
  o.contract_id = c.contract_id and o.token_id = c.token_id and o.standard = 721 and o.status in ('active', 'inactive') offset 0
      ) o union 
      select o.* from (
  select contract_id, lower(ids) as first_id, upper(ids) as end_id
  from (
    select contract_id, unnest(range_agg(numrange(token_id, token_id + amount))) as ids from change
    where kind = 11 and amount > 0 group by contract_id
  ) merged) c cross join lateral (
        select o.order_hash, o.chain_id, o.contract_id, o.token_id, o.maker from "listings"."listing" o where 
  o.contract_id = c.contract_id and o.token_id >= c.first_id and o.token_id < c.end_id
  and o.standard = 721 and o.status in ('active', 'inactive') offset 0
      ) o union 
      select o.* from (
  select contract_id, token_id, from_address as maker from change where kind in (12, 75, 78)
  union
  select contract_id, token_id, to_address from change where kind in (12)) c cross join lateral (
        select o.order_hash, o.chain_id, o.contract_id, o.token_id, o.maker from "listings"."listing" o where 
  o.contract_id = c.contract_id and o.token_id = c.token_id and o.maker = c.maker and o.status in ('active', 'inactive') offset 0
      ) o union 
      select o.* from (
  select distinct contract_id, from_address as maker from change where kind in (20, 73) and to_address = '\x1e0049783f008a0085193e00003d00cd54003c71'::bytea) c cross join lateral (
        select o.order_hash, o.chain_id, o.contract_id, o.token_id, o.maker from "listings"."listing" o where o.contract_id = c.contract_id and o.maker = c.maker and o.status in ('active', 'inactive') offset 0
      ) o union 
      select o.* from (
  select distinct k.chain_id from change join log.contract k using (contract_id)
  where kind in (40, 80) and to_address = '\x0000000000000068f116a894984e2db1123eb395'::bytea and k.address = '\x1e0049783f008a0085193e00003d00cd54003c71'::bytea) c cross join lateral (
        select o.order_hash, o.chain_id, o.contract_id, o.token_id, o.maker from "listings"."listing" o where o.chain_id = c.chain_id and o.status in ('active', 'inactive') offset 0
      ) o union 
      select o.* from (select coalesce((
  select f.amount from log.fact f where f.kind = 81 and f.position <= $3
  order by f.amount desc limit 1
), 0)::bigint as clock) c cross join lateral (
        select o.order_hash, o.chain_id, o.contract_id, o.token_id, o.maker from "listings"."listing" o where o.end_time <= c.clock and o.status in ('active', 'inactive') offset 0
      ) o union 
      select o.* from (select coalesce((
  select f.amount from log.fact f where f.kind = 81 and f.position <= $4
  order by f.amount desc limit 1
), 0)::bigint as clock) c cross join lateral (
        select o.order_hash, o.chain_id, o.contract_id, o.token_id, o.maker from "listings"."listing" o where o.start_time <= c.clock and o.reason = 'not_started' offset 0
      ) o union select o.order_hash, o.chain_id, o.contract_id, o.token_id, o.maker from "listings"."listing" o where o.status in ('expired', 'cancelled') and o.filled = 0 and o.end_time < (select ((coalesce((
  select f.amount from log.fact f where f.kind = 81 and f.position <= $5
  order by f.amount desc limit 1
), 0)::bigint - 2592000) / 3600 * 3600))), selected as materialized (
    select order_hash, chain_id from affected
    union
    select competing.order_hash, competing.chain_id
    from (
      select contract_id, token_id, maker from affected union select contract_id, token_id, maker from terms
    ) g
    cross join lateral (
  select l.order_hash, l.chain_id from "listings"."listing" l
  where l.contract_id = g.contract_id and l.token_id = g.token_id and l.maker = g.maker
    and l.status in ('active', 'inactive') and l.marketplace = 'native'
  offset 0) competing
    except
    select order_hash, chain_id from terms
  ) insert into pg_temp."recompute_listing" 
  (order_hash, chain_id, position, marketplace, contract_id, token_id, standard, maker, currency, unit_price_wei, seller_net_wei, quantity, start_time, end_time, counter, fees, is_conduit_known, is_buyable, is_visible, is_filled_whole, is_contract_signed, created_at, last_seen_at, 
old_status, old_reason, old_filled, old_fillable, old_updated_at, old_marketplace, is_replaced, exchange_id, conduit_id)
  select o.*, x.exchange_id, case when o.is_conduit_known then x.conduit_id end as conduit_id
  from (
  select terms.*, s.status, s.reason, s.filled, s.fillable, s.updated_at, s.marketplace,
         (s.position, s.marketplace, s.is_buyable, s.is_visible, s.last_seen_at) is distinct from (terms.position, terms.marketplace, terms.is_buyable, terms.is_visible, terms.last_seen_at)
  from terms left join lateral (
    select * from "listings"."listing" l where l.order_hash = terms.order_hash and l.chain_id = terms.chain_id offset 0
  ) s on true
  union all
  select stored.*
  from selected cross join lateral (
    select order_hash, chain_id, position, marketplace, contract_id, token_id, standard, maker, currency, unit_price_wei, seller_net_wei, quantity, start_time, end_time, counter, fees, is_conduit_known, is_buyable, is_visible, is_filled_whole, is_contract_signed, created_at, last_seen_at, status, reason, filled, fillable, updated_at, marketplace as old_marketplace, false
    from "listings"."listing" l where l.order_hash = selected.order_hash and l.chain_id = selected.chain_id offset 0
  ) stored) o left join (
select chain_id, max(contract_id) filter (where address = '\x0000000000000068f116a894984e2db1123eb395'::bytea) as exchange_id,
       max(contract_id) filter (where address = '\x1e0049783f008a0085193e00003d00cd54003c71'::bytea) as conduit_id
from log.contract
where chain_id in (1, 33139) and address in ('\x0000000000000068f116a894984e2db1123eb395'::bytea, '\x1e0049783f008a0085193e00003d00cd54003c71'::bytea)
group by chain_id) x using (chain_id);
