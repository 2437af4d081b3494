select engine.open_scratch(name, columns)
from unnest($1::text[], $2::text[]) scratch (name, columns);

with added as (
  insert into "bids"."token_set" (contract_id, root, tokens)
  select f.contract_id, f.order_hash, jsonb_array_length(f.payload -> 'tokenIds') from change f where f.kind in (84) on conflict do nothing
)
insert into "bids"."token_set_chunk" (contract_id, root, chunk, bits)
select f.contract_id, f.order_hash, div(one.id::numeric, 1024), bit_or(set_bit(0::bit(1024), mod(one.id::numeric, 1024)::int, 1))
from change f cross join lateral jsonb_array_elements_text(f.payload -> 'tokenIds') one (id)
where f.kind in (84) group by 1, 2, 3 on conflict do nothing;

with emptied as (delete from pg_temp."recompute_bid"), affected as (
      select o.* from (select distinct order_hash from change where kind in (30, 31, 71, 79, 82)) c cross join lateral (
        select o.chain_id, o.order_hash from "bids"."bid" o where o.order_hash = c.order_hash offset 0
      ) o union 
      select o.* from (
  select distinct k.chain_id, c.from_address as maker from change c join log.contract k using (contract_id)
  where c.kind in (32, 72)) c cross join lateral (
        select o.chain_id, o.order_hash from "bids"."bid" o where o.maker = c.maker and o.chain_id = c.chain_id and o.status <> 'filled' offset 0
      ) o union 
      select o.* from (
  select k.chain_id, k.address as currency, m.maker from (
    select contract_id, from_address as maker from change
    where kind in (22, 24) and amount > 0
      or kind in (76)
      or kind in (21, 77) and to_address = '\x0000000000000068f116a894984e2db1123eb395'::bytea
    union
    select contract_id, to_address from change
    where kind in (22, 23) and amount > 0
  ) m join log.contract k using (contract_id)) c cross join lateral (
        select o.chain_id, o.order_hash from "bids"."bid" o where o.maker = c.maker and o.chain_id = c.chain_id and o.currency = c.currency and o.status in ('active', 'inactive') offset 0
      ) o union 
      select o.* from (
    select o.chain_id, o.maker from (select distinct order_hash from change where kind in (30)) c cross join lateral (
      select b.chain_id, b.maker from "bids"."bid" b where b.order_hash = c.order_hash
      union all
      select k.chain_id, f.from_address from log.fact f join log.contract k using (contract_id)
      where f.order_hash = c.order_hash and f.kind in (70) and payload #>> '{terms,side}' = 'bid' and f.position <= $1
        and not exists (select from "bids"."bid" b where b.order_hash = c.order_hash)
      offset 0
    ) o
    union
    select k.chain_id, c.from_address from change c join log.contract k using (contract_id)
    where c.kind in (70) and payload #>> '{terms,side}' = 'bid' and exists (
      select from log.fact f where f.order_hash = c.order_hash and f.kind in (30) and f.position <= $2
    )) c cross join lateral (
        select o.chain_id, o.order_hash from "bids"."bid" o where o.maker = c.maker and o.chain_id = c.chain_id and o.status in ('active', 'inactive') offset 0
      ) o union 
      select o.* from (select coalesce((
  select f.amount from log.fact f where f.kind = 81 and f.position <= $3
  order by f.amount desc limit 1
), 0)::bigint as clock) c cross join lateral (
        select o.chain_id, o.order_hash from "bids"."bid" o where o.end_time <= c.clock and o.status in ('active', 'inactive') offset 0
      ) o union 
      select o.* from (select coalesce((
  select f.amount from log.fact f where f.kind = 81 and f.position <= $4
  order by f.amount desc limit 1
), 0)::bigint as clock) c cross join lateral (
        select o.chain_id, o.order_hash from "bids"."bid" o where o.start_time <= c.clock and o.reason = 'not_started' offset 0
      ) o union 
      select o.* from (select distinct contract_id, token_id from change where kind in (10, 12)) c cross join lateral (
        select o.chain_id, o.order_hash from "bids"."bid" o where o.contract_id = c.contract_id and o.token_id = c.token_id and o.status in ('active', 'inactive') offset 0
      ) o union 
      select o.* from (
  select contract_id, lower(ids) as first_id, upper(ids) as end_id
  from (
    select contract_id, unnest(range_agg(numrange(token_id, token_id + amount))) as ids from change
    where kind = 11 and amount > 0 group by contract_id
  ) merged) c cross join lateral (
        select o.chain_id, o.order_hash from "bids"."bid" o where 
  o.contract_id = c.contract_id and o.token_id >= c.first_id and o.token_id < c.end_id and o.status in ('active', 'inactive') offset 0
      ) o union select o.chain_id, o.order_hash from "bids"."bid" o where o.status in ('expired', 'cancelled') and o.filled = 0 and o.end_time < (select ((coalesce((
  select f.amount from log.fact f where f.kind = 81 and f.position <= $5
  order by f.amount desc limit 1
), 0)::bigint - 2592000) / 3600 * 3600))), selected as (
    select s.*, null, null, null::numeric, null::bigint, null::timestamptz from (
select k.chain_id, f.order_hash, f.position, 
case when f.token_id is not null then 'single-token'
     when f.payload #>> '{terms,criteria,root}' is null then 'collection'
     when nullif(f.payload #> '{terms,criteria,traits}', 'null') is null then 'token-list' else 'trait' end, f.contract_id, f.token_id,
       decode(substr(f.payload #>> '{terms,criteria,root}', 3), 'hex'), nullif(f.payload #> '{terms,criteria,traits}', 'null'), case f.payload #>> '{terms,standard}' when 'erc721' then 721 else 1155 end,
       f.from_address, decode(substr(f.payload #>> '{components,offer,0,token}', 3), 'hex'),
       (f.payload #>> '{terms,unitPriceWei}')::numeric, (f.payload #>> '{terms,sellerNetWei}')::numeric, f.amount,
       (f.payload #>> '{components,startTime}')::bigint, (f.payload #>> '{components,endTime}')::bigint,
       (f.payload #>> '{components,counter}')::numeric, f.payload #> '{terms,fees}', coalesce(f.payload ->> 'signedBy' = 'contract', false),
       f.recorded_at
from change f join log.contract k using (contract_id)
where f.kind in (70) and f.payload #>> '{terms,side}' = 'bid') s
    union all
    select s.*, null, null, null::numeric, null::bigint, null::timestamptz from (
select k.chain_id, f.order_hash, f.position, 
case when f.token_id is not null then 'single-token'
     when f.payload #>> '{terms,criteria,root}' is null then 'collection'
     when nullif(f.payload #> '{terms,criteria,traits}', 'null') is null then 'token-list' else 'trait' end, f.contract_id, f.token_id,
       decode(substr(f.payload #>> '{terms,criteria,root}', 3), 'hex'), nullif(f.payload #> '{terms,criteria,traits}', 'null'), case f.payload #>> '{terms,standard}' when 'erc721' then 721 else 1155 end,
       f.from_address, decode(substr(f.payload #>> '{components,offer,0,token}', 3), 'hex'),
       (f.payload #>> '{terms,unitPriceWei}')::numeric, (f.payload #>> '{terms,sellerNetWei}')::numeric, f.amount,
       (f.payload #>> '{components,startTime}')::bigint, (f.payload #>> '{components,endTime}')::bigint,
       (f.payload #>> '{components,counter}')::numeric, f.payload #> '{terms,fees}', coalesce(f.payload ->> 'signedBy' = 'contract', false),
       f.recorded_at
from (
  select f.* from (
  select c.order_hash from change c join log.block b on b.block_id = c.block_id
  where c.kind = 30
    and b.timestamp < to_timestamp((select ((coalesce((
  select f.amount from log.fact f where f.kind = 81 and f.position <= $6
  order by f.amount desc limit 1
), 0)::bigint - 2592000) / 3600 * 3600)))
  union
  select c.order_hash from change c
  where c.kind = 71) named cross join lateral (
    select f.* from log.fact f
    where f.order_hash = named.order_hash and f.kind in (70) and 
  f.position <= $7 and not exists (select from retracted_block d where d.block_id = f.block_id)
   offset 0
  ) f
  where not exists (select from "bids"."bid" b where b.order_hash = f.order_hash)
    and not exists (select from change c where c.order_hash = f.order_hash and c.kind = f.kind)
) f join log.contract k using (contract_id)
where f.kind in (70) and f.payload #>> '{terms,side}' = 'bid') s union all
    select b.* from affected a cross join lateral (
      select chain_id, order_hash, position, kind, contract_id, token_id, criteria, traits, standard, maker, currency,
             unit_price_wei, seller_net_wei, quantity, start_time, end_time, counter, fees, is_contract_signed, created_at,
             status, reason, filled, filled_block_id, updated_at
      from "bids"."bid" b where b.order_hash = a.order_hash and b.chain_id = a.chain_id offset 0
    ) b
  ) insert into pg_temp."recompute_bid" select s.*, x.contract_id from selected s left join log.contract x on x.chain_id = s.chain_id and x.address = '\x0000000000000068f116a894984e2db1123eb395'::bytea;
