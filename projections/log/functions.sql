CREATE OR REPLACE FUNCTION log.add_partitions(up_to bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  size bigint;
  ends bigint;
  own record;
begin
  select partition_size, partitions_end into strict size, ends from log.head for update;
  begin
    lock table only log.fact in share update exclusive mode nowait;
  exception when lock_not_available then
    -- While it is analyzed: a later append makes them, as long as there is room.
    if up_to < ends then return; end if;
    lock table only log.fact in share update exclusive mode;
  end;
  while up_to >= ends - size / 4 loop
    execute format('create table log.fact_%s (like log.fact including all excluding indexes)', ends);
    execute format('create unique index fact_event_%1$s on log.fact_%1$s (block_id, log_index, sub_index)
                    with (fillfactor = 100) where log_index is not null', ends);
    execute format('create unique index fact_identity_%1$s on log.fact_%1$s (identity)
                    where identity is not null', ends);
    perform log.copy_grants('log.fact', format('log.fact_%s', ends)::regclass);
    execute format('alter table log.fact attach partition log.fact_%1$s for values from (%1$s) to (%2$s)',
                   ends, ends + size);
    for own in
      select i.indexrelid::regclass as name, p.relname as parent
      from pg_index i join pg_inherits h on h.inhrelid = i.indexrelid join pg_class p on p.oid = h.inhparent
      where i.indrelid = format('log.fact_%s', ends)::regclass
    loop
      execute format('alter index %s rename to %I', own.name, own.parent || '_' || ends);
    end loop;
    ends := ends + size;
  end loop;
  update log.head set partitions_end = ends;
end
$function$;
revoke execute on function log.add_partitions(bigint) from public;

CREATE OR REPLACE FUNCTION log.add_staged_blocks(OUT chains integer[], OUT hashes bytea[], OUT ids bigint[], OUT known bigint[], OUT staged bigint, OUT observed bigint, OUT first bigint, OUT last bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  refused text;
begin
  with named as materialized (
    select s.chain_id, s.block_number as number, s.block_hash as hash, min(s.block_timestamp) as timestamp,
           min(s.ord) as ord, max(s.ord) as last_ord, count(*) as facts, count(s.identity) as observed
    from pg_temp.staged s
    group by s.chain_id, s.block_number, s.block_hash
  ), found as materialized (
    select n.*, b.block_id,
           case when n.number < 1::bigint << 32 then (c.ordinal::bigint << 44) | (n.number << 12) end as first_id
    from named n left join lateral (
      select b.block_id from log.block b where b.chain_id = n.chain_id and b.hash = n.hash offset 0
    ) b on true
    left join log.chain c on c.chain_id = n.chain_id
    where n.hash is not null
  ), added as (
    insert into log.block (block_id, chain_id, number, hash, timestamp)
    select n.first_id | (
             (select count(*) from log.block b where b.block_id >= n.first_id and b.block_id < n.first_id + (1 << 12))
             + row_number() over (partition by n.chain_id, n.number order by n.ord) - 1),
           n.chain_id, n.number, n.hash, n.timestamp
    from found n
    where n.block_id is null and n.first_id is not null
    returning chain_id, hash, block_id
  ), block as (
    select chain_id, hash, block_id from found where block_id is not null
    union all
    select chain_id, hash, block_id from added
  )
  select coalesce(array_agg(b.chain_id), '{}'), coalesce(array_agg(b.hash), '{}'), coalesce(array_agg(b.block_id), '{}'),
         (select coalesce(array_agg(f.block_id), '{}') from found f where f.block_id is not null),
         (select coalesce(sum(n.facts), 0) from named n), (select coalesce(sum(n.observed), 0) from named n),
         (select min(n.ord) from named n), (select max(n.last_ord) from named n),
         (select format('block %s of chain %s', n.number, n.chain_id) from found n where n.first_id is null limit 1)
  into chains, hashes, ids, known, staged, observed, first, last, refused
  from block b;
  if refused is not null then
    raise exception '% exceeds what a block id holds, or log.chain lacks the chain', refused;
  end if;
end
$function$;
revoke execute on function log.add_staged_blocks() from public;

CREATE OR REPLACE FUNCTION log.analyze_facts()
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  reached bigint;
begin
  select position into reached from log.head
  where position > analyzed_position + analyzed_position / 5 + 1000;
  if not found then
    return false;
  end if;
  if current_setting('server_version_num')::integer >= 180000 then
    execute 'analyze only log.fact';
  else
    analyze log.fact;
  end if;
  update log.head set analyzed_position = reached;
  return true;
end
$function$;
revoke execute on function log.analyze_facts() from public;

CREATE OR REPLACE FUNCTION log.append_block_states(state smallint, blocks bigint[], at timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  base bigint;
  size bigint;
  ends bigint;
  appended bigint;
begin
  select position, partition_size, partitions_end into strict base, size, ends from log.head for update;
  if base + cardinality(blocks) >= ends - size / 4 then
    perform log.add_partitions(base + cardinality(blocks));
  end if;
  insert into log.fact (position, block_id, kind, recorded_at)
  select base + row_number() over (order by changing.block_id), changing.block_id, state, at
  from (
    select distinct b.block_id
    from log.block b
    where b.block_id = any (blocks)
      and (b.block_id in (select r.block_id from log.retracted_blocks(base) r)) <> (state = 1)
  ) changing;
  get diagnostics appended = row_count;
  if appended > 0 then
    update log.head set position = base + appended;
    perform pg_notify('log', (base + appended)::text);
  end if;
  return appended;
end
$function$;
revoke execute on function log.append_block_states(smallint,bigint[],timestamp with time zone) from public;

CREATE OR REPLACE FUNCTION log.append_observations(facts jsonb, OUT appended bigint, OUT last_position bigint)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  refused smallint;
begin
  perform log.create_stage();
  insert into pg_temp.staged (ord, kind, chain_id, contract, identity, recorded_at, block_number, block_hash,
                              block_timestamp, token_id, amount, from_address, to_address, order_hash, payload)
  select fact.ord, fact.kind, fact.chain_id, decode(fact.contract, 'hex'), decode(fact.identity, 'hex'), fact.recorded_at,
         fact.block_number, decode(fact.block_hash, 'hex'), fact.block_timestamp, fact.token_id, fact.amount,
         decode(fact.from_address, 'hex'), decode(fact.to_address, 'hex'), decode(fact.order_hash, 'hex'), fact.payload
  from jsonb_to_recordset(facts) as fact (
    ord bigint, kind smallint, chain_id integer, contract text, identity text, recorded_at timestamptz,
    block_number bigint, block_hash text, block_timestamp timestamptz, token_id numeric, amount numeric,
    from_address text, to_address text, order_hash text, payload jsonb
  );
  if not pg_has_role(session_user, current_user, 'usage') then
    select staged.kind into refused from pg_temp.staged
    where staged.identity is null or not exists (
      select from ops.appendable_kind allowed where allowed.role = session_user and allowed.kind = staged.kind)
    limit 1;
    if found then
      raise insufficient_privilege using message = format('%s may not append facts of kind %s', session_user, refused);
    end if;
  end if;
  select done.appended, done.last_position into strict appended, last_position from log.append_staged() done;
end
$function$;
revoke execute on function log.append_observations(jsonb) from public;

CREATE OR REPLACE FUNCTION log.append_stage(OUT appended bigint, OUT last_position bigint)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform log.create_stage();
  select done.appended, done.last_position into strict appended, last_position from log.append_staged() done;
end
$function$;
revoke execute on function log.append_stage() from public;

CREATE OR REPLACE FUNCTION log.append_staged(OUT appended bigint, OUT last_position bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  base bigint;
  size bigint;
  ends bigint;
  given record;
  removed bigint := 0;
  before bigint;
begin
  select position, partition_size, partitions_end into strict base, size, ends from log.head for update;
  select *, staged <= 1000 as is_small into strict given from log.add_staged_blocks();
  if given.known <> '{}' then
    execute $plan$
      delete from pg_temp.staged s using log.block b, log.fact f
      where b.block_id = any ($1) and s.chain_id = b.chain_id and s.block_hash = b.hash
        and f.block_id = b.block_id and f.log_index = s.log_index and f.sub_index = s.sub_index$plan$ using given.known;
    get diagnostics removed = row_count;
  end if;
  if given.observed > 0 then
    perform log.remove_repeated_from_stage();
    delete from pg_temp.staged s using log.fact f where f.identity = s.identity;
  elsif (base + 1) / size <> (base + given.staged) / size then
    perform log.remove_repeated_from_stage();
  elsif given.last - given.first + 1 = given.staged - removed then
    before := given.first - 1;
  end if;
  if base + given.staged >= ends - size / 4 then
    perform log.add_partitions(base + given.staged);
  end if;
  begin
    appended := log.store_staged(base, given.chains, given.hashes, given.ids, given.is_small, before);
  exception when unique_violation then
    perform log.remove_repeated_from_stage();
    appended := log.store_staged(base, given.chains, given.hashes, given.ids, given.is_small, null);
  end;
  last_position := base + appended;
  if appended > 0 then
    if given.known <> '{}' then
      insert into log.transaction_part (position)
      select next.position from log.fact last, log.fact next
      where last.position = base and next.position = base + 1
        and next.block_id = last.block_id and next.transaction_index = last.transaction_index
      on conflict do nothing;
    end if;
    update log.head set position = last_position;
    perform pg_notify('log', last_position::text);
  end if;
end
$function$;
revoke execute on function log.append_staged() from public;

CREATE OR REPLACE FUNCTION log.copy_grants(source regclass, target regclass)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  given record;
begin
  for given in
    select a.privilege_type as privilege, coalesce(quote_ident(r.rolname), 'public') as grantee
    from pg_class c cross join aclexplode(c.relacl) a left join pg_roles r on r.oid = a.grantee
    where c.oid = source and a.grantee <> c.relowner
  loop
    execute format('grant %s on %s to %s', given.privilege, target, given.grantee);
  end loop;
end
$function$;
revoke execute on function log.copy_grants(regclass,regclass) from public;

CREATE OR REPLACE FUNCTION log.create_stage()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if to_regclass('pg_temp.staged') is null then
    create temporary table staged (
      ord               bigint,
      kind              smallint,
      chain_id          integer,
      block_number      bigint,
      block_hash        bytea,
      block_timestamp   timestamptz,
      transaction_index integer,
      transaction_hash  bytea,
      log_index         integer,
      sub_index         integer,
      contract          bytea,
      token_id          numeric(78,0),
      amount            numeric(78,0),
      from_address      bytea,
      to_address        bytea,
      order_hash        bytea,
      identity          bytea,
      recorded_at       timestamptz,
      payload           jsonb
    ) on commit delete rows;
  elsif (select c.relowner from pg_class c where c.oid = to_regclass('pg_temp.staged'))
        <> (select r.oid from pg_roles r where r.rolname = current_user) then
    raise insufficient_privilege using message = 'the table pg_temp.staged is not the log owner''s';
  end if;
end
$function$;
revoke execute on function log.create_stage() from public;

CREATE OR REPLACE FUNCTION log.open_stage()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform log.create_stage();
  if not has_table_privilege(session_user, 'pg_temp.staged', 'insert') then
    grant select, insert on pg_temp.staged to public;
  end if;
end
$function$;
revoke execute on function log.open_stage() from public;

CREATE OR REPLACE FUNCTION log.register_contracts(chain_ids integer[], addresses bytea[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  is_known boolean;
begin
  for attempt in 1..2 loop
    with named as (
      select distinct one.chain_id, coalesce(alias.stands_for, one.address) as address
      from unnest(chain_ids, addresses) as one (chain_id, address)
      left join log.contract_alias alias using (chain_id, address)
    ), unknown as (
      select n.chain_id, n.address from named n
      where not exists (
        select from log.contract known where known.chain_id = n.chain_id and known.address = n.address)
    ), added as (
      insert into log.contract (chain_id, address)
      select u.chain_id, u.address from unknown u where attempt = 2 order by u.chain_id, u.address
      on conflict do nothing
    )
    select not exists (select from unknown) into is_known;
    exit when is_known;
    -- Appenders give out contract ids too.
    perform from log.head for update;
  end loop;
end
$function$;
revoke execute on function log.register_contracts(integer[],bytea[]) from public;

CREATE OR REPLACE FUNCTION log.remove_repeated_from_stage()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  delete from pg_temp.staged s
  using (
    select ctid, row_number() over (
             partition by case when s.identity is null then s.chain_id end,
                          case when s.identity is null then s.block_hash end,
                          s.log_index, s.sub_index, s.identity
             order by s.ord
           ) as copy
    from pg_temp.staged s
  ) numbered
  where s.ctid = numbered.ctid and numbered.copy > 1;
end
$function$;
revoke execute on function log.remove_repeated_from_stage() from public;

CREATE OR REPLACE FUNCTION log.retracted_blocks(up_to bigint)
 RETURNS TABLE(block_id bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select latest.block_id
  from (
    select distinct on (f.block_id) f.block_id, f.kind
    from log.fact f
    where f.kind in (1, 2) and f.position <= up_to
    order by f.block_id, f.position desc
  ) latest
  where latest.kind = 1
$function$;

CREATE OR REPLACE FUNCTION log.store_staged(base bigint, chains integer[], hashes bytea[], ids bigint[], is_small boolean, before bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 SET enable_mergejoin TO 'off'
AS $function$
declare
  stored bigint;
begin
  if is_small then
    
    with block as materialized (
      select b.chain_id, b.hash, b.block_id from unnest($2, $3, $4) b (chain_id, hash, block_id)
    ), named as materialized (
      select distinct s.chain_id, s.contract as address from pg_temp.staged s where s.contract is not null
      union
      select item.chain_id, coalesce(alias.stands_for, item.address)
      from (
        select distinct s.chain_id, decode(substr(entry ->> 'token', 3), 'hex') as address
        from pg_temp.staged s
        cross join lateral jsonb_array_elements((s.payload -> 'offer') || (s.payload -> 'consideration')) entry
        where s.kind = 30 and (entry ->> 'itemType')::int >= 2
      ) item
      left join log.contract_alias alias using (chain_id, address)
    ), found as materialized (
      select n.chain_id, n.address, k.contract_id
      from named n left join lateral (
        select k.contract_id from log.contract k where k.chain_id = n.chain_id and k.address = n.address offset 0
      ) k on true
    ), added as (
      insert into log.contract (chain_id, address)
      select f.chain_id, f.address from found f where f.contract_id is null order by f.chain_id, f.address
      returning chain_id, address, contract_id
    ), contract as materialized (
      select chain_id, address, contract_id from found where contract_id is not null
      union all
      select chain_id, address, contract_id from added
    ), told as (
      insert into log.transaction (block_id, transaction_index, hash)
      select b.block_id, s.transaction_index, s.transaction_hash
      from (
        select distinct chain_id, block_hash, transaction_index, transaction_hash from pg_temp.staged
        where transaction_hash is not null
      ) s
      join block b on b.chain_id = s.chain_id and b.hash = s.block_hash
      order by b.block_id, s.transaction_index
      on conflict do nothing
    )
    insert into log.fact (position, block_id, transaction_index, log_index, contract_id, sub_index, kind,
                          token_id, amount, from_address, to_address, order_hash, identity, recorded_at, payload)
    select $1 + row_number() over (order by s.ord), b.block_id, s.transaction_index, s.log_index, c.contract_id,
           s.sub_index, s.kind, s.token_id, s.amount, s.from_address, s.to_address, s.order_hash, s.identity, s.recorded_at,
           s.payload
    from pg_temp.staged s
    left join block b on b.chain_id = s.chain_id and b.hash = s.block_hash
    left join contract c on c.chain_id = s.chain_id and c.address = s.contract;
  else
    execute format($plan$
    with block as materialized (
      select b.chain_id, b.hash, b.block_id from unnest($2, $3, $4) b (chain_id, hash, block_id)
    ), named as materialized (
      select distinct s.chain_id, s.contract as address from pg_temp.staged s where s.contract is not null
      union
      select item.chain_id, coalesce(alias.stands_for, item.address)
      from (
        select distinct s.chain_id, decode(substr(entry ->> 'token', 3), 'hex') as address
        from pg_temp.staged s
        cross join lateral jsonb_array_elements((s.payload -> 'offer') || (s.payload -> 'consideration')) entry
        where s.kind = 30 and (entry ->> 'itemType')::int >= 2
      ) item
      left join log.contract_alias alias using (chain_id, address)
    ), found as materialized (
      select n.chain_id, n.address, k.contract_id
      from named n left join lateral (
        select k.contract_id from log.contract k where k.chain_id = n.chain_id and k.address = n.address offset 0
      ) k on true
    ), added as (
      insert into log.contract (chain_id, address)
      select f.chain_id, f.address from found f where f.contract_id is null order by f.chain_id, f.address
      returning chain_id, address, contract_id
    ), contract as materialized (
      select chain_id, address, contract_id from found where contract_id is not null
      union all
      select chain_id, address, contract_id from added
    ), told as (
      insert into log.transaction (block_id, transaction_index, hash)
      select b.block_id, s.transaction_index, s.transaction_hash
      from (
        select distinct chain_id, block_hash, transaction_index, transaction_hash from pg_temp.staged
        where transaction_hash is not null
      ) s
      join block b on b.chain_id = s.chain_id and b.hash = s.block_hash
      order by b.block_id, s.transaction_index
      on conflict do nothing
    )
    insert into log.fact (position, block_id, transaction_index, log_index, contract_id, sub_index, kind,
                          token_id, amount, from_address, to_address, order_hash, identity, recorded_at, payload)
    select $1 + %s, b.block_id, s.transaction_index, s.log_index, c.contract_id,
           s.sub_index, s.kind, s.token_id, s.amount, s.from_address, s.to_address, s.order_hash, s.identity, s.recorded_at,
           s.payload
    from pg_temp.staged s
    left join block b on b.chain_id = s.chain_id and b.hash = s.block_hash
    left join contract c on c.chain_id = s.chain_id and c.address = s.contract$plan$,
      case when before is null then 'row_number() over (order by s.ord)' else 's.ord' end)
    using base - coalesce(before, 0), chains, hashes, ids;
  end if;
  get diagnostics stored = row_count;
  return stored;
end
$function$;
revoke execute on function log.store_staged(bigint,integer[],bytea[],bigint[],boolean,bigint) from public;

CREATE OR REPLACE FUNCTION engine.open_scratch(name text, columns text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      if to_regclass('pg_temp.' || quote_ident(name)) is null then
        -- How values are stored can be said here from PostgreSQL 16 on.
        if current_setting('server_version_num')::integer < 160000 then
          columns := replace(columns, ' storage plain', '');
        end if;
        execute format('create temporary table %I (%s) on commit delete rows', name, columns);
      end if;
    end $function$;
