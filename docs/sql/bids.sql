with
  counted as materialized (
    select (
  select coalesce(sum(n.rows), 0)::bigint from "bids"."count" n
  where n.chain_id = $1 and n.status = $2  and true) - (
  select count(*) from "bids"."bid" o where true and 
  o.status in ('active', 'inactive') and o.status = $3 and o.chain_id = $4   and true and o.end_time <= $5::bigint) as total 
  ),
  page as (
    select o.* from "bids"."bid" o where 
  o.status in ('active', 'inactive') and o.status = $6 and o.chain_id = $7   and true and not o.end_time <= $8::bigint  and (select total from counted) > 0
    order by o."unit_price_wei" desc, o.position desc limit $9 offset $10)
  select counted.*, detail.*
  from counted left join page o on true 
left join log.contract traded on traded.contract_id = o.contract_id
left join collections.contract m on m.contract_id = o.contract_id
left join collections.collection c on c.collection_id = coalesce(m.collection_id, o.contract_id)
left join log.contract main on main.contract_id = c.collection_id cross join lateral (select 
  o.chain_id as "chainId", o.order_hash as "orderHash", o.position, o.contract_id as "contractId",
  traded.address as contract, o.standard, o.maker, o.unit_price_wei as "unitPriceWei",
  div(o.unit_price_wei * case o.chain_id when 1 then (
  select t.price_e8 from coin_prices.tick t
  where t.coin = 'ethereum' and t.minute <= $11::timestamptz and t.minute >= $12::timestamptz - interval '2 hours'
  order by t.minute desc limit 1
) when 33139 then (
  select t.price_e8 from coin_prices.tick t
  where t.coin = 'apecoin' and t.minute <= $13::timestamptz and t.minute >= $14::timestamptz - interval '2 hours'
  order by t.minute desc limit 1
) end, 1000000000000000000) as "unitPriceUsdE8", o.seller_net_wei as "sellerNetWei", o.quantity, o.filled,
  o.start_time as "startTime", o.end_time as "endTime", o.counter, o.fees as fees, o.created_at as "createdAt",
  (extract(epoch from o.created_at) * 1000000)::bigint as "createdMicros",
  case when (o.status in ('active', 'inactive') and o.end_time <= $15::bigint) then 'expired' else o.status end as status,
  case when (o.status in ('active', 'inactive') and o.end_time <= $16::bigint) then null else o.reason end as reason,
  case when (o.status in ('active', 'inactive') and o.end_time <= $17::bigint) then to_timestamp(o.end_time) else o.updated_at end as "updatedAt",
coalesce(main.address, traded.address) as "collectionAddress", c.slug as "collectionSlug", c.name as "collectionName", o.kind, o.token_id as "tokenId", o.currency, o.criteria, o.traits,
  (select s.tokens from bids.token_set s where s.contract_id = o.contract_id and s.root = o.criteria) as "criteriaTokens",
  null::bigint as "matchingTokens") detail
  order by o."unit_price_wei" desc, o.position desc;
