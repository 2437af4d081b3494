import { type Kysely, sql } from "kysely";

/**
 * Everything that writes the log is a function that runs with the rights of the log's owner, so that no process needs a
 * right on its tables. The stage is the owner's table too: triggers or views that a caller made would run with his rights.
 * `ops.service_role` names the database role of each process, `ops.appendable_kind` the kinds of facts that it may append.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** Functions of the owner: names are looked up nowhere but in the catalog, a session's own objects last. */
const definer = "security definer set search_path = pg_catalog, pg_temp";

/** Where facts wait, in the appender's transaction, for their positions. Emptied when it ends. */
const createStage = `
create function log.create_stage() returns void language plpgsql ${definer} as $$
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
$$`;

/** For the recorder, which fills the stage itself. */
const openStage = `
create function log.open_stage() returns void language plpgsql ${definer} as $$
begin
  perform log.create_stage();
  if not has_table_privilege(session_user, 'pg_temp.staged', 'insert') then
    grant select, insert on pg_temp.staged to public;
  end if;
end
$$`;

const appendStage = `
create function log.append_stage(out appended bigint, out last_position bigint) language plpgsql ${definer} as $$
begin
  perform log.create_stage();
  select done.appended, done.last_position into strict appended, last_position from log.append_staged() done;
end
$$`;

/** Appends facts that no chain emitted. The caller fills no stage, so that it is none of a chain's events. */
const appendObservations = `
create function log.append_observations(facts jsonb, out appended bigint, out last_position bigint)
language plpgsql ${definer} as $$
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
$$`;

/** Gives ids to contracts that no fact names, adapters replaced by what they stand for. */
const registerContracts = `
create function log.register_contracts(chain_ids integer[], addresses bytea[]) returns void
language plpgsql ${definer} as $$
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
$$`;

const statements = [
  "create schema if not exists locks",
  `create table ops.service_role (
     process text primary key check (process in ('owner', 'indexer', 'projector', 'jobs', 'api')),
     role    text not null
   )`,
  "comment on table ops.service_role is 'Database roles of the processes; empty: one role is all of them.'",
  `create table ops.appendable_kind (
     role text     not null,
     kind smallint not null,
     primary key (role, kind)
   )`,
  createStage,
  openStage,
  appendStage,
  appendObservations,
  registerContracts,
  "alter function log.append_block_states(smallint, bigint[], timestamptz) security definer",
  "alter function log.append_block_states(smallint, bigint[], timestamptz) set search_path = pg_catalog, pg_temp",
  "revoke execute on all functions in schema log from public",
  // It writes nothing.
  "grant execute on function log.retracted_blocks(bigint) to public",
];
