with matched as materialized (
  select collection_id from collection_stats.search_text where 
chain_id = $1  and false
), counted as (
  select coalesce(sum(collections), 0)::bigint as total from collection_stats.collection_count where 
chain_id = $2 
), page_key as materialized (
with present as materialized (
select collection_id, "wei_24h"::numeric as sort_key from "collection_stats"."collection"
where 
chain_id = $3   and "wei_24h" <> 0 
order by "wei_24h" desc, collection_id desc limit $4::int + $5::int
)
select * from (
  select * from present
  union all
  (
select collection_id, $6::numeric from "collection_stats"."collection"
where 
chain_id = $7   and not ("wei_24h" <> 0) 
order by collection_id desc limit greatest(0, $8::int + $9::int - (select count(*) from present)))
) found
order by sort_key desc, collection_id desc
limit $10 offset $11)
select counted.total, k.sort_key as "sortKey", k.collection_id as "collectionId"
from counted left join page_key k on true
order by k.sort_key desc, k.collection_id desc;

select (
  select t.price_e8 from coin_prices.tick t
  where t.coin = query.coin and t.minute <= query.at and t.minute >= query.at - interval '2 hours'
  order by t.minute desc limit 1
) as price
  from unnest($1::text[], $2::timestamptz[]) with ordinality as query (coin, at, ord)
  order by query.ord;
