select f.block_id, f.transaction_index, f.log_index, f.kind, contract.address as contract,
         f.from_address, f.to_address, f.order_hash, f.payload, block.chain_id, transaction.hash
  from (
  select f.* from (
select block_id, array_agg(distinct transaction_index) as transaction_indexes
from change where kind in (30, 34, 35) group by block_id) changed
  cross join lateral (
    select * from log.fact
    where block_id = changed.block_id and log_index is not null and kind in (30, 34, 35)
      and transaction_index = any (changed.transaction_indexes) and position <= $1
    offset 0
  ) f
  where not exists (select from retracted_block r where r.block_id = f.block_id)) f
  join log.block on block.block_id = f.block_id
  join log.transaction on transaction.block_id = f.block_id
    and transaction.transaction_index = f.transaction_index
  join log.contract on contract.contract_id = f.contract_id
  order by f.block_id, f.transaction_index, f.log_index;

with changed as materialized (
  select distinct block_id, transaction_index from change where kind in (30, 34, 35)
)
select 
exists (select from changed cross join lateral (
  select from "sales"."sale" one
  where one.block_id = changed.block_id and one.transaction_index = changed.transaction_index limit 1
) one) or 
exists (select from changed cross join lateral (
  select from "sales"."unresolved_event" one
  where one.block_id = changed.block_id and one.transaction_index = changed.transaction_index limit 1
) one) as derived;
