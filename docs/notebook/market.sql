-- Ten questions about a chain and one of its contracts: change both here. Token ids of more than 38 digits are left out.
set variable chain = 33139;
set variable contract = '0x000000000000000000000000000000000000a032';

-- Sales in ETH or APE, and what of each is the seller's. A wash trade has the rule that it meets.
create view native_sales as
select *, (total_wei - coalesce(list_sum([fee.wei for fee in fees]), 0)) / 1e18 as seller_native
from sales
where chain_id = getvariable('chain') and is_native;

create view honest_sales as from native_sales where wash_trade is null;

create view contract_floors as
from floors
where chain_id = getvariable('chain') and contract = getvariable('contract');

create view contract_listings as
from listings
where chain_id = getvariable('chain') and contract = getvariable('contract')
  and status = 'active' and price_native is not null;

.print ## 1. Volume by day and the exchange's protocol, without wash trades
select day, protocol, count(*) as sales, sum(total_native) as volume_native
from honest_sales
group by day, protocol
order by day, volume_native desc;

.print ## 2. How much of the volume is wash trades, by the rule that they meet
select coalesce(wash_trade, 'none') as rule, count(*) as sales, sum(total_native) as volume_native
from native_sales
group by rule
order by volume_native desc;

.print ## 3. The floor's path: the last, lowest and highest that a day brought
select day, arg_max(floor_native, since) as last, min(floor_native) as lowest, max(floor_native) as highest
from contract_floors
group by day
order by day;

.print ## 4. How the contract's units are spread over its holders
with moved as (
  select to_address as holder, quantity as units from transfers
  where chain_id = getvariable('chain') and contract = getvariable('contract')
  union all
  select from_address, -quantity from transfers
  where chain_id = getvariable('chain') and contract = getvariable('contract')
),
held as (
  select holder, sum(units) as units from moved
  where holder <> '0x0000000000000000000000000000000000000000'
  group by holder
  having sum(units) > 0
)
select case when units = 1 then '1' when units <= 5 then '2 to 5' when units <= 20 then '6 to 20' else 'more' end as each,
       count(*) as holders, sum(units) as units
from held
group by each
order by min(held.units);

.print ## 5. Who earned by buying and selling again: what reached the seller, less what the last purchase cost
select sold.seller as wallet, count(*) as resales,
       round(sum(sold.seller_native - bought.total_native), 6) as profit_native
from honest_sales sold
asof join honest_sales bought
  on bought.contract = sold.contract and bought.token_id = sold.token_id and bought.buyer = sold.seller
 and bought.block_number < sold.block_number
group by wallet
order by profit_native desc
limit 20;

.print ## 6. Royalties: how many sales paid one, and what share of the volume
select coalesce(collection_slug, contract) as collection, count(*) as sales,
       count(*) filter (royalty_native > 0) as paying, round(sum(royalty_native), 6) as royalty_native,
       round(100 * sum(royalty_native) / sum(total_native), 2) as percent
from (
  select *, coalesce(list_sum([fee.wei for fee in fees if fee.kind = 'royalty']), 0) / 1e18 as royalty_native
  from honest_sales
)
group by all
order by royalty_native desc
limit 20;

.print ## 7. Offers for any token of the contract, against its floor now
select offer.maker, offer.price_native as offered, floor.floor_native,
       round(100 * offer.price_native / floor.floor_native, 2) as percent
from bids offer
join contract_floors floor on floor.until is null and floor.contract = offer.contract
where offer.chain_id = getvariable('chain') and offer.kind = 'collection' and offer.status = 'active'
order by offered desc
limit 20;

.print ## 8. How long sellers held what they sold, by month of the sale
select date_trunc('month', day)::date as month, count(*) as sales, median(held_hours) as median_hours
from (
  select sold.day, (epoch(sold.block_timestamp) - epoch(came.block_timestamp)) / 3600 as held_hours
  from honest_sales sold
  asof join transfers came
    on came.chain_id = sold.chain_id and came.contract = sold.contract and came.token_id = sold.token_id
   and came.to_address = sold.seller and came.block_number < sold.block_number
)
group by month
order by month;

.print ## 9. The depth of the book: listings up to so many percent above the cheapest
select band.percent, count(*) as listings, max(listing.price_native) as up_to_native
from contract_listings listing
join (values (10), (25), (50), (100)) band (percent)
  on listing.price_native <= (select min(price_native) from contract_listings) * (100 + band.percent) / 100
group by band.percent
order by band.percent;

.print ## 10. What buyers paid against the floor of that moment
select sold.day, count(*) as sales, round(median(100 * sold.price_native / floor.floor_native), 2) as percent_of_floor
from honest_sales sold
asof join contract_floors floor on floor.contract = sold.contract and floor.since <= sold.block_timestamp
group by sold.day
order by sold.day;
