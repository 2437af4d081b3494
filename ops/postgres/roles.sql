-- The database users of the processes and their rights, under the names of the embedded database: `op roles sql` prints this
-- with those of your settings. Run it in the migrated database as its owner or as an administrator (`psql -1 -f`), as often
-- as you like: it takes what was granted by hand. `op doctor` compares the rights that users have with what is granted here.
-- Roles belong to the server and may serve several databases of it; rights belong to this database.

-- 1. Users, and whose tables are whose. What this session may not do is left, with a warning.

do $$
declare
  statement text;
  users constant text[] := array['service_indexer', 'service_projector', 'service_jobs', 'service_api', 'service_console'];
begin
  for statement in
    select format('create role %I', name) from unnest(users || 'service_owner'::text) name
    where not exists (select from pg_roles where rolname = name)
    union all
    select format('alter role %I nosuperuser nocreatedb nocreaterole noreplication nobypassrls', rolname) from pg_roles
    where rolname = any (users) and rolname <> 'service_owner'
      and (rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls)
    union all
    select format('revoke %I from %I', pg_get_userbyid(m.roleid), r.rolname) from pg_auth_members m join pg_roles r on r.oid = m.member
    where r.rolname = any (users) and r.rolname <> 'service_owner' and pg_get_userbyid(m.roleid) = any (users || 'service_owner'::text)
  loop
    begin execute statement; exception when insufficient_privilege then raise warning '%: %', statement, sqlerrm; end;
  end loop;
  -- The owner works on all tables; what `op doctor` and the console say of others' statements is in the server's statistics.
  for statement in
    select format('grant %I to service_owner', name) from unnest(users) name where not pg_has_role('service_owner', name, 'usage')
    union all
    select format('grant pg_read_all_stats to %I', name) from unnest(array['service_owner', 'service_console']) name
    where not pg_has_role(name, 'pg_read_all_stats', 'usage')
  loop
    begin execute statement; exception when insufficient_privilege then raise warning '%: %', statement, sqlerrm; end;
  end loop;
end $$;

-- A restore makes everything the restoring user's.
do $$
declare
  users constant text[] := array['service_indexer', 'service_projector', 'service_jobs', 'service_api', 'service_console'];
  shadow constant text := '(_v\d+)?(_(next|previous|replaced|verify))?$';
  projections text[] := '{}';
  statement text;
begin
  if to_regclass('engine.checkpoint') is not null then
    select array_agg(regexp_replace(projection, shadow, '')) into projections from engine.checkpoint;
  end if;
  for statement in
    with space as (
      select oid, nspname as name, nspowner, case
        when nspname in ('log', 'ops', 'engine', 'rarity', 'access', 'locks') then 'service_owner'
        when nspname ~ '^ponder_(sync$|\d+_)' then 'service_indexer'
        when nspname ~ '^analytics(_next|_replaced_\d+)?$' or regexp_replace(nspname, shadow, '') = any (projections)
        then 'service_projector' end::text as owner
      from pg_namespace where nspname !~ '^(pg_|information_schema$)'
    )
    select format('alter %s %s owner to %I', o.kind, o.name, s.owner)
    from space s cross join lateral (
      select 0 as rank, 'schema' as kind, quote_ident(s.name) as name, s.nspowner as owner
      union all
      -- Indexes and identities follow their table; a process's lock stays its own.
      select 1, 'table', c.oid::regclass::text, c.relowner from pg_class c
      where c.relnamespace = s.oid and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
        and (s.name <> 'locks' or pg_get_userbyid(c.relowner) <> all (users))
        and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
                          and c.relkind = 'S' and d.deptype in ('a', 'i'))
      union all
      select 2, 'routine', p.oid::regprocedure::text, p.proowner from pg_proc p where p.pronamespace = s.oid
      union all
      select 3, 'type', t.oid::regtype::text, t.typowner from pg_type t left join pg_class c on c.oid = t.typrelid
      where t.typnamespace = s.oid and (t.typtype in ('e', 'd', 'r') or c.relkind = 'c')
    ) o
    where s.owner is not null and pg_get_userbyid(o.owner) <> s.owner
    order by o.rank
  loop
    begin execute statement;
    exception when insufficient_privilege or lock_not_available then raise warning '%: %', statement, sqlerrm; end;
  end loop;
end $$;

-- 2. Rights. First none, then each user's; the owner has all.

do $$
declare
  all_users constant text := 'public, service_indexer, service_projector, service_jobs, service_api, service_console';
  space record;
begin
  execute format('revoke temporary on database %I from %s', current_database(), all_users);
  execute format('grant temporary on database %I to service_owner, service_indexer, service_projector, service_jobs', current_database());
  execute format('grant create on database %I to service_owner, service_indexer, service_projector', current_database());
  for space in
    select nspname as name, nspowner::regrole::text as owner from pg_namespace
    where nspname in ('log', 'ops', 'engine', 'rarity', 'access')
       or nspname !~ '^pg_' and pg_get_userbyid(nspowner) in ('service_indexer', 'service_projector')
  loop
    execute format('revoke create on schema %I from %s', space.name, all_users);
    execute format('revoke all on all tables in schema %I from %s', space.name, all_users);
    execute format('revoke all on all routines in schema %I from %s', space.name, all_users);
    execute format('grant all on schema %I to %s', space.name, space.owner);
    execute format('grant all on all tables in schema %I to %s', space.name, space.owner);
    execute format('grant all on all routines in schema %I to %s', space.name, space.owner);
  end loop;
end $$;

-- 2.1 All read the log and the operating tables, and all but the indexer what is derived: also what a migration adds.

grant usage on schema log, ops to service_indexer, service_projector, service_jobs, service_api, service_console;
grant select on all tables in schema log, ops to service_indexer, service_projector, service_jobs, service_api, service_console;
alter default privileges for role service_owner in schema log, ops
  grant select on tables to service_indexer, service_projector, service_jobs, service_api, service_console;
grant execute on function log.retracted_blocks(bigint)
  to service_indexer, service_projector, service_jobs, service_api, service_console;

grant usage on schema engine to service_projector, service_jobs, service_api, service_console;
grant select on all tables in schema engine to service_projector, service_jobs, service_api, service_console;
alter default privileges for role service_owner in schema engine
  grant select on tables to service_projector, service_jobs, service_api, service_console;
grant execute on function engine.open_scratch(text, text) to service_projector;

-- Ponder makes its schemas, and the projector those of projections (one a version, shadows) and of analysts' views.
alter default privileges for role service_indexer grant usage on schemas to service_projector, service_jobs, service_api, service_console;
alter default privileges for role service_indexer grant select on tables to service_projector, service_jobs, service_api, service_console;
alter default privileges for role service_projector grant usage on schemas to service_jobs, service_api, service_console;
alter default privileges for role service_projector grant select on tables to service_jobs, service_api, service_console;
do $$
declare space name;
begin
  for space in select nspname from pg_namespace where nspname !~ '^pg_' and pg_get_userbyid(nspowner) in ('service_indexer', 'service_projector')
    and nspname not in ('log', 'ops', 'engine', 'rarity', 'access', 'locks')
  loop
    execute format('grant usage on schema %1$I to service_jobs, service_api, service_console', space);
    execute format('grant select on all tables in schema %1$I to service_jobs, service_api, service_console', space);
  end loop;
  for space in select nspname from pg_namespace where nspname ~ '^ponder_' and pg_get_userbyid(nspowner) = 'service_indexer' loop
    execute format('grant usage on schema %1$I to service_projector', space);
    execute format('grant select on all tables in schema %1$I to service_projector', space);
  end loop;
end $$;

-- 2.2 Nobody writes the log but by the owner's functions. Passwords, keys, sessions and second factors are the API's alone.

grant execute on function log.open_stage(), log.append_stage(), log.append_block_states(smallint, bigint[], timestamptz)
  to service_indexer, service_projector;
grant execute on function log.register_contracts(integer[], bytea[]), log.analyze_facts() to service_projector;
grant execute on function log.append_observations(jsonb)
  to service_indexer, service_projector, service_jobs, service_api, service_console;

grant usage on schema access to service_api, service_console;
grant select, insert, update, delete on all tables in schema access to service_api;
alter default privileges for role service_owner in schema access grant select, insert, update, delete on tables to service_api;
grant select on access.minute, access.usage to service_console;

-- Who delivers webhooks reads their secrets, and of accounts only which are suspended.
grant usage on schema access to service_jobs;
grant select, update on access.webhook to service_jobs;
grant select, insert, delete on access.webhook_delivery to service_jobs;
grant select (id, suspended_at) on access.account to service_jobs;

-- 2.3 What each process writes besides.

grant usage on schema rarity to service_jobs, service_api;
grant select, insert, update, delete on all tables in schema rarity to service_jobs;
grant select on all tables in schema rarity to service_api;
alter default privileges for role service_owner in schema rarity grant select, insert, update, delete on tables to service_jobs;
alter default privileges for role service_owner in schema rarity grant select on tables to service_api;

grant insert, update on ops.outgoing_call, ops.partner_budget
  to service_indexer, service_projector, service_jobs, service_api, service_console;

grant insert, update on ops.indexer, ops.chain_finality, ops.history_proof to service_indexer;
grant insert, update, delete on ops.source, ops.node_fault to service_indexer;

grant insert, update on ops.job to service_indexer, service_projector, service_jobs, service_console;
grant insert, update on ops.lease to service_projector, service_jobs;
grant insert, update on ops.projecting_lease, ops.recorder, ops.observation_check to service_projector;
grant insert, update, delete on engine.checkpoint, ops.recorded_block, engine.book_order, engine.book_price to service_projector;
grant insert, update on engine.book to service_projector;
grant insert on engine.order_event to service_projector;
-- Views for analysts are made again under its lock.
grant update on ops.analyst to service_projector;

grant insert, update on ops.partner_collection, ops.partner_skip, ops.royalty_scan, ops.royalty_reread, ops.analytics_engine,
  ops.order_recheck, ops.metadata_request to service_jobs;
grant insert, update, delete on ops.partner_listing, ops.metadata_request to service_jobs;

grant insert, update on ops.royalty_reread, ops.metadata_request to service_api;
grant insert, update, delete on ops.order_budget to service_api;
grant insert on ops.holder_snapshot, ops.snapshot_holder to service_api;

grant insert, update on ops.switch to service_console;
grant insert, update, delete on ops.sample to service_console;

-- A lock is a view whose table lock is taken; whoever needs one first makes it.
grant usage, create on schema locks to service_indexer, service_projector, service_jobs;
grant update on all tables in schema locks to service_indexer, service_projector, service_jobs;
alter default privileges for role service_owner, service_indexer, service_projector, service_jobs in schema locks
  grant update on tables to service_indexer, service_projector, service_jobs;

-- `op analysts grant` takes these from everybody.
do $$
begin
  grant execute on function pg_notify(text, text) to service_owner, service_indexer, service_projector, service_jobs;
  grant execute on function txid_current() to service_projector;
exception when insufficient_privilege then raise warning 'functions of PostgreSQL: %', sqlerrm;
end $$;

-- 3. Who is who, and the kinds of facts (projections/log/fact-kinds.ts) that each may append by log.append_observations.

insert into ops.service_role (process, role)
values ('owner', 'service_owner'), ('indexer', 'service_indexer'), ('projector', 'service_projector'),
       ('jobs', 'service_jobs'), ('api', 'service_api'), ('console', 'service_console')
on conflict (process) do update set role = excluded.role;

delete from ops.appendable_kind;
insert into ops.appendable_kind (role, kind)
-- what its proof of the history found missing
select 'service_indexer', 99
-- facts that are set aside, and taken back
union select 'service_projector', unnest('{95,96}'::smallint[])
-- all that is read from chains, partners and price feeds
union select 'service_jobs', kind from generate_series(60, 94) kind where kind not in (70, 84)
-- orders, the tokens they are for, and cross-listings, and what was read of a chain for them
union select 'service_api', unnest('{65,70,71,72,73,74,75,76,77,78,79,80,82,83,84}'::smallint[])
-- what operators did
union select 'service_console', unnest('{97,98}'::smallint[]);
