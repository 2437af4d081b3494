with counted as materialized (
  select coalesce(sum(sales), 0)::bigint as total from sales.total
  where chain_id = $1 and contract_id = any ($2::int[])), page as (select s.* from (
  select s.* from sales.sale s where true and s.block_id >= $3 and s.block_id < $4  and 
  true        and true  
  and true   and (select total from counted) > 0 order by s.block_id desc, s.transaction_index desc, s.ordinal desc limit $5) s order by s.block_id desc, s.transaction_index desc, s.ordinal desc limit $6 offset $7)
  select counted.total,
s.block_id as "blockId", s.transaction_index as "transactionIndex", s.ordinal,
s.sale_id as "saleId", s.chain_id as "chainId", s.token_id as "tokenId", s.quantity,
s.price_wei as "priceWei", s.total_wei as "totalWei", s.currency,
case when (s.chain_id, s.currency) in ((1, '\x0000000000000000000000000000000000000000'::bytea), (1, '\xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'::bytea), (33139, '\x0000000000000000000000000000000000000000'::bytea), (33139, '\x48b62137edfa95a428d35c09e44256a739f6b557'::bytea)) then div(s.price_wei * (
  select t.price_e8 from coin_prices.tick t
  where t.coin = case s.chain_id when 1 then 'ethereum' when 33139 then 'apecoin' end and t.minute <= s.timestamp and t.minute >= s.timestamp - interval '2 hours'
  order by t.minute desc limit 1
), 1000000000000000000) end as "priceUsdE8", s.seller, s.buyer, s.via, wash.rule as "washRule", s.side,
s.marketplace, s.protocol, s.protocol_version as "protocolVersion", s.exchange, s.order_hash as "orderHash",
case when s.fees @> '[{"kind": "other"}]' then (
  select jsonb_agg(case when fee.value ->> 'kind' = 'other' and (
  exists (select from collections.stated_royalty known where known.contract_id = s.contract_id and known.bps > 0 and known.recipient = decode(substr(fee.value ->> 'recipient', 3), 'hex'))
  or exists (select from collections.creator_fee known where known.contract_id = s.contract_id and known.bps > 0 and known.recipient = decode(substr(fee.value ->> 'recipient', 3), 'hex') and known.counts)
  or exists (
    select from log.contract sold
    join collections.registry_contract member on member.chain_id = sold.chain_id and member.address = sold.address
    join collections.registry_collection known on known.collection_id = member.collection_id
    where sold.contract_id = s.contract_id and known.royalty_bps > 0 and known.royalty_recipient = decode(substr(fee.value ->> 'recipient', 3), 'hex')
  ))
                        then fee.value || '{"kind": "royalty"}' else fee.value end order by fee.ordinality)
  from jsonb_array_elements(s.fees) with ordinality fee
) else s.fees end as fees, s.bundle_size as "bundleSize", s.bundle_total_wei as "bundleTotalWei",
s.log_index as "logIndex", s.transaction_hash as "transactionHash",
s.block_number as "blockNumber", s.block_hash as "blockHash", s.timestamp,
traded.address as contract, 
coalesce(main.address, traded.address) as "collectionAddress", c.slug as "collectionSlug", c.name as "collectionName"
  from counted left join page s on true 
left join log.contract traded on traded.contract_id = s.contract_id
left join collections.contract m on m.contract_id = s.contract_id
left join collections.collection c on c.collection_id = coalesce(m.collection_id, s.contract_id)
left join log.contract main on main.contract_id = c.collection_id
left join sales.wash_trade wash on wash.block_id = s.block_id
  and wash.transaction_index = s.transaction_index and wash.ordinal = s.ordinal
  order by s.block_id desc, s.transaction_index desc, s.ordinal desc;
