with
  counted as materialized (
    select (
  select coalesce(sum(n.rows), 0)::bigint from "listings"."count" n
  where n.chain_id = $1 and n.status = $2  and marketplace in ('native', 'opensea', 'magiceden')) - (
  select count(*) from "listings"."listing" o where true and 
  o.status in ('active', 'inactive') and o.status = $3 and o.chain_id = $4   and marketplace in ('native', 'opensea', 'magiceden')   and true and o.end_time <= $5::bigint) as total 
  ),
  page as (
  select o.* from unnest($6::text[]) wanted (marketplace)
  cross join lateral (
    select o.* from "listings"."listing" o where o.marketplace = wanted.marketplace and 
  o.status in ('active', 'inactive') and o.status = $7 and o.chain_id = $8   and marketplace in ('native', 'opensea', 'magiceden')   and true and not o.end_time <= $9::bigint  and (select total from counted) > 0
    order by o."unit_price_wei" asc, o.position asc limit $10
  ) o
  order by o."unit_price_wei" asc, o.position asc limit $11 offset $12)
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
  where t.coin = 'ethereum' and t.minute <= $13::timestamptz and t.minute >= $14::timestamptz - interval '2 hours'
  order by t.minute desc limit 1
) when 33139 then (
  select t.price_e8 from coin_prices.tick t
  where t.coin = 'apecoin' and t.minute <= $15::timestamptz and t.minute >= $16::timestamptz - interval '2 hours'
  order by t.minute desc limit 1
) end, 1000000000000000000) as "unitPriceUsdE8", o.seller_net_wei as "sellerNetWei", o.quantity, o.filled,
  o.start_time as "startTime", o.end_time as "endTime", o.counter, o.fees as fees, o.created_at as "createdAt",
  (extract(epoch from o.created_at) * 1000000)::bigint as "createdMicros",
  case when (o.status in ('active', 'inactive') and o.end_time <= $17::bigint) then 'expired' else o.status end as status,
  case when (o.status in ('active', 'inactive') and o.end_time <= $18::bigint) then null else o.reason end as reason,
  case when (o.status in ('active', 'inactive') and o.end_time <= $19::bigint) then to_timestamp(o.end_time) else o.updated_at end as "updatedAt",
coalesce(main.address, traded.address) as "collectionAddress", c.slug as "collectionSlug", c.name as "collectionName", o.marketplace, o.is_buyable as "isBuyable", o.token_id as "tokenId", o.currency,
  case when (o.status in ('active', 'inactive') and o.end_time <= $20::bigint) then 0 else o.fillable end as fillable) detail
  order by o."unit_price_wei" asc, o.position asc;
