select contract_id as "contractId", token_id as "tokenId", standard, units
    from (
    select contract_id, token_id, standard, units
    from (
      (
    select h.contract_id, h.token_id, 721::int as standard, 1::numeric as units from ownership.token h
    where h.owner = $1::bytea and 1::numeric > 0  
      and exists (
        select from log.contract k where k.contract_id = h.contract_id and k.chain_id = $2 offset 0
      ) and not exists (
  select from collections.description d
  where d.contract_id = "h"."contract_id" and d.standard = 20 and not exists (
    select from collections.contract m where m.contract_id = d.contract_id
  )
)
    order by h.contract_id, h.token_id limit $3)
      union all (
    select h.contract_id, h.token_id, 721 as standard, 1::numeric as units from (
    select r.contract_id, generate_series(greatest(r.first_id, case when r.contract_id = $4::int then $5::numeric else 0 end), r.last_id) as token_id, 721::smallint as standard,
           r.owner
    from (
    select * from ownership.token_range r
    where r.owner = $6::bytea   and exists (
      select from log.contract k where k.contract_id = r.contract_id and k.chain_id = $7 offset 0
    ) and not exists (
  select from collections.description d
  where d.contract_id = "r"."contract_id" and d.standard = 20 and not exists (
    select from collections.contract m where m.contract_id = d.contract_id
  )
)
    order by r.contract_id, r.first_id offset 0) r
  ) h
    where true  limit $8)
      union all (
    select h.contract_id, h.token_id, 1155::int as standard, h.units as units from ownership.balance h
    where h.owner = $9::bytea and h.units > 0  
      and exists (
        select from log.contract k where k.contract_id = h.contract_id and k.chain_id = $10 offset 0
      ) and not exists (
  select from collections.description d
  where d.contract_id = "h"."contract_id" and d.standard = 20 and not exists (
    select from collections.contract m where m.contract_id = d.contract_id
  )
)
    order by h.contract_id, h.token_id limit $11)
    ) held
    order by contract_id, token_id, standard limit $12) held order by contract_id, token_id, standard;

select k.contract_id as "contractId", coalesce(c.collection_id, k.contract_id) as "collectionId",
       coalesce(main.address, k.address) as address, c.slug, c.name
from log.contract k
left join collections.contract m using (contract_id)
left join collections.collection c on c.collection_id = coalesce(m.collection_id, k.contract_id)
left join log.contract main on main.contract_id = c.collection_id
where k.contract_id = any ($1::int[]);
