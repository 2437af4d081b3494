select f.weight,
f.contract_id as "contractId", f.token_id as first, f.token_id + f.amount as end, f.to_address as owner,
f.block_id as "blockId", f.log_index as "logIndex" from change f where f.kind = 11 and f.amount > 0;

select engine.open_scratch(name, columns)
from unnest($1::text[], $2::text[]) scratch (name, columns);

with holders as (delete from pg_temp.holder_delta), moved as (delete from pg_temp.moved_in_range),
     shifted as (delete from pg_temp.shifted_token), units as (delete from pg_temp.moved_units), supplies as (delete from pg_temp.unit_delta)
delete from pg_temp.collection_delta;

insert into pg_temp.moved_units
select m.contract_id, m.token_id,
       case when not (m.has_left or coalesce(m.first_place <= array[t.block_id, t.log_index], false)) then null
         when t.unlogged = 0 then m.first_place[1] else 0 end,
       m.transfers, m.burned, m.last_place[1], m.last_place[2]
from (
  select contract_id, token_id, sum(weight) as transfers, bool_or(weight < 0) as has_left,
         min(array[block_id, log_index]) as first_place,
         max(array[block_id, log_index]) filter (where weight > 0) as last_place,
         sum(case when (to_address in ('\x0000000000000000000000000000000000000000'::bytea, '\x000000000000000000000000000000000000dead'::bytea)) then weight * amount else 0 end) as burned
  from change where kind = 12
  group by contract_id, token_id
) m
left join "ownership"."token" t
  on t.contract_id = m.contract_id and t.token_id = m.token_id and t.standard = 1155;

with walk as (
select contract_id, token_id, owner, sum(units) as units, least(0, min(reached)) as lowest
from (
  select contract_id, token_id, owner, units, sum(units) over (
           partition by contract_id, token_id, owner order by block_id, log_index, sub_index, step
         ) as reached
  from (
select t.contract_id, t.token_id, leg.owner, t.weight, t.block_id, t.log_index, t.sub_index, leg.step, leg.units
from (
select f.contract_id, f.token_id, f.block_id, f.log_index, f.sub_index, f.from_address, f.to_address, f.amount, 1 as weight from pg_temp.moved_units m join change f using (contract_id, token_id)
where m.from_block is null and f.kind = 12
union all
select f.contract_id, f.token_id, f.block_id, f.log_index, f.sub_index, f.from_address, f.to_address, f.amount, 1 from pg_temp.moved_units m
cross join lateral (
  select * from log.fact f
  where f.kind = 12 and f.contract_id = m.contract_id and f.token_id = m.token_id and f.block_id >= m.from_block
    and f.position <= $1 and f.block_id not in (select block_id from retracted_block)
  offset 0
) f
where m.from_block is not null) t
cross join lateral (values (t.from_address, 0, -t.amount), (t.to_address, 1, t.amount)) leg (owner, step, units)
where leg.owner <> '\x0000000000000000000000000000000000000000'::bytea) leg
) walked
group by contract_id, token_id, owner), net as (
  select contract_id, token_id, owner, sum(weight * units) as units
  from (
select t.contract_id, t.token_id, leg.owner, t.weight, t.block_id, t.log_index, t.sub_index, leg.step, leg.units
from (select * from change where kind = 12) t
cross join lateral (values (t.from_address, 0, -t.amount), (t.to_address, 1, t.amount)) leg (owner, step, units)
where leg.owner <> '\x0000000000000000000000000000000000000000'::bytea) leg
  group by contract_id, token_id, owner
), touched as (
  select contract_id, token_id, owner from walk
  union
  select contract_id, token_id, owner from net
  union
  select b.contract_id, b.token_id, b.owner from pg_temp.moved_units m join "ownership"."balance" b using (contract_id, token_id)
  where m.from_block = 0
), changed as materialized (
  select k.contract_id, k.token_id, k.owner, s.before is null as is_new, coalesce(s.before, 0) as before,
         start.units + coalesce(w.units, 0) + lack.units as after, lack.units as unlogged
  from touched k
  join pg_temp.moved_units m using (contract_id, token_id)
  left join walk w using (contract_id, token_id, owner)
  left join net n using (contract_id, token_id, owner)
  left join lateral (
    select b.units as before from "ownership"."balance" b
    where b.contract_id = k.contract_id and b.token_id = k.token_id and b.owner = k.owner offset 0
  ) s on true
  cross join lateral (
    select case when m.from_block = 0 then 0
      else coalesce(s.before, 0) + coalesce(n.units, 0) - coalesce(w.units, 0) end as units
  ) start
  cross join lateral (select greatest(0, -(start.units + coalesce(w.lowest, 0))) as units) lack
), deleted as (
  delete from "ownership"."balance" b using changed c
  where c.after = 0 and not c.is_new
    and b.contract_id = c.contract_id and b.token_id = c.token_id and b.owner = c.owner
), updated as (
  update "ownership"."balance" b set units = c.after from changed c
  where c.after <> 0 and not c.is_new and c.after <> c.before
    and b.contract_id = c.contract_id and b.token_id = c.token_id and b.owner = c.owner
), inserted as (
  insert into "ownership"."balance" (contract_id, token_id, owner, units)
  select contract_id, token_id, owner, after from changed where is_new and after <> 0
), noted as (
  insert into pg_temp.unit_delta (contract_id, token_id, supply, unlogged)
  select contract_id, token_id,
         sum(case when (owner in ('\x0000000000000000000000000000000000000000'::bytea, '\x000000000000000000000000000000000000dead'::bytea)) then 0 else after - before end), sum(unlogged)
  from changed group by contract_id, token_id
)
insert into pg_temp.holder_delta (contract_id, owner, ids)
select contract_id, owner, (after > 0)::int - (before > 0)::int
from changed
where (after > 0) <> (before > 0) and not (owner in ('\x0000000000000000000000000000000000000000'::bytea, '\x000000000000000000000000000000000000dead'::bytea));

with changed as materialized (
  select m.contract_id, m.token_id, t.transfers is null as is_new, coalesce(t.supply, 0) as before,
         coalesce(t.supply, 0) + coalesce(d.supply, 0) as after, coalesce(t.transfers, 0) as transfers_before,
         coalesce(t.transfers, 0) + m.transfers as transfers, coalesce(t.burned, 0) + m.burned as burned,
         case when m.from_block = 0 then 0 else coalesce(t.unlogged, 0) end + coalesce(d.unlogged, 0) as unlogged,
         place.block_id, place.log_index
  from pg_temp.moved_units m
  left join pg_temp.unit_delta d using (contract_id, token_id)
  left join "ownership"."token" t on t.contract_id = m.contract_id and t.token_id = m.token_id and t.standard = 1155
  left join lateral (
    select m.last_block_id as block_id, m.last_log_index as log_index where m.from_block is null
    union all
    select * from (
select f.block_id, f.log_index from log.fact f
where f.kind = 12 and f.contract_id = m.contract_id and f.token_id = m.token_id
  and f.position <= $1 and f.block_id not in (select block_id from retracted_block)
order by f.block_id desc, f.log_index desc limit 1) last where m.from_block is not null
  ) place on true
), deleted as (
  delete from "ownership"."token" t using changed c
  where c.transfers = 0 and t.contract_id = c.contract_id and t.token_id = c.token_id and t.standard = 1155
), updated as (
  update "ownership"."token" t
  set supply = c.after, is_burned = (c.after = 0 and c.burned > 0), transfers = c.transfers, burned = c.burned,
      unlogged = c.unlogged, block_id = c.block_id, log_index = c.log_index
  from changed c
  where c.transfers <> 0 and not c.is_new
    and t.contract_id = c.contract_id and t.token_id = c.token_id and t.standard = 1155
), inserted as (
  insert into "ownership"."token"
    (contract_id, token_id, standard, supply, is_burned, transfers, burned, unlogged, block_id, log_index)
  select contract_id, token_id, 1155, after, (c.after = 0 and c.burned > 0), transfers, burned, unlogged, block_id, log_index
  from changed c where is_new and transfers <> 0
), noted as (
  insert into pg_temp.shifted_token (contract_id, token_id, is_units)
  select contract_id, token_id, transfers <> 0 from changed where (transfers = 0) <> (transfers_before = 0)
)
insert into pg_temp.collection_delta (contract_id, erc721_tokens, tokens, supply, units)
select contract_id, 0, sum((transfers <> 0)::int - (transfers_before <> 0)::int),
       sum((after > 0)::int - (before > 0)::int), sum(after - before)
from changed
group by contract_id;

with last_change as materialized (
    select distinct on (contract_id, token_id) contract_id, token_id, weight, to_address, block_id, log_index
    from change where kind = 10
    order by contract_id, token_id, block_id desc, log_index desc
  ), changed as materialized (
    select u.contract_id, u.token_id, d.to_address as owner, d.block_id, d.log_index,
           (d.to_address in ('\x0000000000000000000000000000000000000000'::bytea, '\x000000000000000000000000000000000000dead'::bytea)) as is_burned, u.is_new, u.old_owner, u.old_burned, u.range_block_id
    from (
      select m.*, t.standard is null as is_new, t.owner as old_owner, t.is_burned as old_burned,
             r.block_id as range_block_id, r.log_index as range_log_index
      from last_change m
      left join "ownership"."token" t on t.contract_id = m.contract_id and t.token_id = m.token_id and t.standard = 721
      left join lateral (
  select r.last_id, r.block_id, r.log_index from "ownership"."last_range" r
  where r.contract_id = m.contract_id and r.first_id <= m.token_id
  order by r.first_id desc limit 1) r on r.last_id >= m.token_id
      where (
  not exists (
    select from "ownership"."token" many where many.contract_id = m.contract_id and many.token_id = m.token_id and many.standard = 1155 offset 0
  ) and not exists (select from pg_temp.shifted_token shifted where shifted.contract_id = m.contract_id and shifted.token_id = m.token_id)
) and case
          when m.weight < 0 then (m.block_id, m.log_index) = (t.block_id, t.log_index)
          else (t.standard is null or (m.block_id, m.log_index) > (t.block_id, t.log_index))
               and (r.block_id is null or (m.block_id, m.log_index) > (r.block_id, r.log_index))
        end
      offset 0
    ) u
    left join lateral (
      select u.to_address, u.block_id, u.log_index where u.weight > 0
      union all
      select * from (
  select f.to_address, f.block_id, f.log_index from log.fact f
  where f.kind = 10 and f.contract_id = u.contract_id and f.token_id = u.token_id
    and f.position <= $1 and f.block_id not in (select block_id from retracted_block)
  order by f.block_id desc, f.log_index desc limit 1) before
      where u.weight < 0
        and (u.range_block_id is null or (before.block_id, before.log_index) > (u.range_block_id, u.range_log_index))
    ) d on true
  ), deleted as (
    delete from "ownership"."token" t using changed c
    where c.owner is null and t.contract_id = c.contract_id and t.token_id = c.token_id and t.standard = 721
  ), updated as (
    update "ownership"."token" t
    set owner = c.owner, supply = case when c.is_burned then 0 else 1 end, is_burned = c.is_burned,
        block_id = c.block_id, log_index = c.log_index
    from changed c
    where c.owner is not null and not c.is_new
      and t.contract_id = c.contract_id and t.token_id = c.token_id and t.standard = 721
  ), inserted as (
    insert into "ownership"."token" (contract_id, token_id, standard, owner, supply, is_burned, block_id, log_index)
    select contract_id, token_id, 721, owner, case when is_burned then 0 else 1 end, is_burned, block_id, log_index
    from changed where is_new
  ), noted_ranges as (
    insert into pg_temp.moved_in_range
    select contract_id, token_id from changed where range_block_id is not null and (is_new or owner is null)
  ), noted_holders as (
    insert into pg_temp.holder_delta (contract_id, owner, ids)
    select contract_id, old_owner, -1 from changed where not old_burned
    union all
    select contract_id, owner, 1 from changed where not is_burned
  )
  insert into pg_temp.collection_delta (contract_id, erc721_tokens, tokens, supply, units)
  select contract_id, sum(tokens), sum(tokens), sum(supply), sum(supply)
  from (
    select contract_id, (owner is not null)::int - (old_owner is not null)::int as tokens,
           (owner is not null and not is_burned)::int - (old_owner is not null and not old_burned)::int as supply
    from changed
  ) counted
  group by contract_id;

with written as (
delete from "ownership"."token" t using pg_temp.shifted_token s where s.is_units and t.contract_id = s.contract_id and t.token_id = s.token_id and t.standard = 721 returning t.contract_id, t.owner, t.is_burned, t.supply), noted as (
  insert into pg_temp.holder_delta (contract_id, owner, ids)
  select contract_id, owner, -1 * count(*) from written where not is_burned group by contract_id, owner
)
insert into pg_temp.collection_delta (contract_id, erc721_tokens, tokens, supply, units)
select contract_id, -1 * count(*), -1 * count(*), -1 * sum(supply), -1 * sum(supply)
from written group by contract_id;

with written as (
insert into "ownership"."token" as t (contract_id, token_id, standard, owner, supply, is_burned, block_id, log_index)
select f.contract_id, f.token_id, 721, f.to_address, case when (f.to_address in ('\x0000000000000000000000000000000000000000'::bytea, '\x000000000000000000000000000000000000dead'::bytea)) then 0 else 1 end,
       (f.to_address in ('\x0000000000000000000000000000000000000000'::bytea, '\x000000000000000000000000000000000000dead'::bytea)), f.block_id, f.log_index
from (select contract_id, token_id as first_id, token_id + 1 as end_id from pg_temp.shifted_token where not is_units) area
cross join lateral (
  select distinct on (f.token_id) f.* from log.fact f
  where f.kind = 10 and f.contract_id = area.contract_id
    and f.token_id >= area.first_id and f.token_id < area.end_id and f.position <= $1
    and f.block_id not in (select block_id from retracted_block)
  order by f.token_id, f.block_id desc, f.log_index desc
) f
left join lateral (
  select r.last_id, r.block_id, r.log_index from "ownership"."last_range" r
  where r.contract_id = f.contract_id and r.first_id <= f.token_id
  order by r.first_id desc limit 1
) r on r.last_id >= f.token_id
where (r.block_id is null or (f.block_id, f.log_index) > (r.block_id, r.log_index)) and not exists (
  select from "ownership"."token" many
  where many.contract_id = f.contract_id and many.token_id = f.token_id and many.standard = 1155
)
on conflict do nothing returning t.contract_id, t.owner, t.is_burned, t.supply), noted as (
  insert into pg_temp.holder_delta (contract_id, owner, ids)
  select contract_id, owner, 1 * count(*) from written where not is_burned group by contract_id, owner
)
insert into pg_temp.collection_delta (contract_id, erc721_tokens, tokens, supply, units)
select contract_id, 1 * count(*), 1 * count(*), 1 * sum(supply), 1 * sum(supply)
from written group by contract_id;

insert into pg_temp.moved_in_range (contract_id, token_id)
select s.contract_id, s.token_id from pg_temp.shifted_token s
cross join lateral (
  select r.last_id from "ownership"."last_range" r
  where r.contract_id = s.contract_id and r.first_id <= s.token_id
  order by r.first_id desc limit 1
) r
where r.last_id >= s.token_id;

select contract_id as "contractId", token_id as first, token_id + 1 as end from pg_temp.moved_in_range;

with changed as materialized (
  select d.contract_id, d.owner, h.tokens is null as is_new, coalesce(h.tokens, 0) as before,
         coalesce(h.tokens, 0) + d.ids as after
  from (
    select contract_id, owner, sum(ids) as ids from pg_temp.holder_delta
    group by contract_id, owner having sum(ids) <> 0
  ) d
  left join "ownership"."holder" h using (contract_id, owner)
), deleted as (
  delete from "ownership"."holder" h using changed c
  where c.after = 0 and h.contract_id = c.contract_id and h.owner = c.owner
), updated as (
  update "ownership"."holder" h set tokens = c.after from changed c
  where c.after <> 0 and not c.is_new and h.contract_id = c.contract_id and h.owner = c.owner
), inserted as (
  insert into "ownership"."holder" (contract_id, owner, tokens)
  select contract_id, owner, after from changed where is_new
)
insert into pg_temp.collection_delta (contract_id, holders)
select contract_id, sum((after > 0)::int - (before > 0)::int) from changed group by contract_id;

with delta as materialized (
  select d.*, c.tokens is null as is_new, coalesce(c.tokens, 0) + d.tokens = 0 as is_empty
  from (
    select contract_id, sum(erc721_tokens) as erc721_tokens, sum(tokens) as tokens, sum(supply) as supply,
           sum(units) as units, sum(holders) as holders
    from pg_temp.collection_delta group by contract_id
    having (sum(erc721_tokens), sum(tokens), sum(supply), sum(units), sum(holders)) <> (0, 0, 0, 0, 0)
  ) d
  left join lateral (
    select c.tokens from "ownership"."collection" c where c.contract_id = d.contract_id offset 0
  ) c on true
), deleted as (
  delete from "ownership"."collection" c using delta m where m.is_empty and c.contract_id = m.contract_id
), updated as (
  update "ownership"."collection" c
  set erc721_tokens = c.erc721_tokens + m.erc721_tokens, tokens = c.tokens + m.tokens,
      supply = c.supply + m.supply, units = c.units + m.units, holders = c.holders + m.holders
  from delta m
  where not m.is_new and not m.is_empty and c.contract_id = m.contract_id
)
insert into "ownership"."collection" (contract_id, erc721_tokens, tokens, supply, units, holders)
select contract_id, erc721_tokens, tokens, supply, units, holders from delta where is_new and not is_empty;
