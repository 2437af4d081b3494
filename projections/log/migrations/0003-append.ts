import { type Kysely, sql } from "kysely";

/** The appender: what is staged in a session becomes facts with dense positions, each identity once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const functions = [dropped, addBlocks, addContracts, removeHeld, appendStaged, appendBlockStates];
  for (const statement of functions) await sql.raw(statement).execute(db);
}

/**
 * A statement of a function that is planned whenever it runs. A plan that a connection keeps from a stage of one fact
 * would serve a stage of ten thousand.
 */
function freshlyPlanned(statement: string): string {
  return `execute $plan$${statement}$plan$`;
}

/** The few blocks and contracts of a stage, looked up once each rather than per fact. */
const stagedBlocks = `
      select known.chain_id, known.hash, known.block_id
      from (select distinct one.chain_id, one.block_hash as hash from pg_temp.staged one) named
      join log.block known using (chain_id, hash)`;
const stagedContracts = `
      select known.chain_id, known.address, known.contract_id
      from (select distinct one.chain_id, one.contract as address from pg_temp.staged one) named
      join log.contract known using (chain_id, address)`;

/** Blocks that do not count at a position: the last word on them up to it was a retraction. */
const dropped = `
create function log.dropped(up_to bigint) returns table (block_id bigint)
language sql stable as $$
  select latest.block_id
  from (
    select distinct on (f.block_id) f.block_id, f.kind
    from log.fact f
    where f.kind in (1, 2) and f.position <= up_to
    order by f.block_id, f.position desc
  ) latest
  where latest.kind = 1
$$`;

/**
 * Gives every staged block an id: chain << 44 | number << 12 | fork. The head's row is locked by the caller.
 * Returns the ids of those that the log knew already.
 */
const addBlocks = `
create function log.add_staged_blocks() returns bigint[]
language plpgsql as $$
declare
  known bigint[];
  exceeds boolean;
begin
  ${freshlyPlanned(`
    with named as materialized (
      select s.chain_id, s.block_number as number, s.block_hash as hash, min(s.block_timestamp) as timestamp,
             min(s.ord) as ord
      from pg_temp.staged s
      where s.block_hash is not null
      group by s.chain_id, s.block_number, s.block_hash
    ), known as materialized (
      select b.block_id, b.chain_id, b.hash from named n join log.block b using (chain_id, hash)
    ), added as (
      insert into log.block (block_id, chain_id, number, hash, timestamp)
      select (n.chain_id::bigint << 44) | (n.number << 12) | (
               (select count(*) from log.block b
                where b.block_id >= (n.chain_id::bigint << 44) | (n.number << 12)
                  and b.block_id < (n.chain_id::bigint << 44) | ((n.number + 1) << 12))
               + row_number() over (partition by n.chain_id, n.number order by n.ord) - 1),
             n.chain_id, n.number, n.hash, n.timestamp
      from named n
      where not exists (select from known k where k.chain_id = n.chain_id and k.hash = n.hash)
    )
    select (select coalesce(array_agg(block_id), '{}') from known),
           (select bool_or(number >= 1::bigint << 32 or chain_id >= 1 << 19) from named)`)} into known, exceeds;
  if exceeds then
    raise exception 'a block number or chain id exceeds what a block id holds';
  end if;
  return known;
end
$$`;

const addContracts = `
create function log.add_staged_contracts() returns void
language plpgsql as $$
begin
  ${freshlyPlanned(`
    insert into log.contract (chain_id, address)
    select distinct named.chain_id, named.address
    from (
      select distinct s.chain_id, s.contract from pg_temp.staged s where s.contract is not null
      union all
      select item.chain_id, coalesce(alias.stands_for, item.address)
      from (
        select distinct s.chain_id, decode(substr(entry ->> 'token', 3), 'hex') as address
        from pg_temp.staged s
        cross join lateral jsonb_array_elements((s.payload -> 'offer') || (s.payload -> 'consideration')) entry
        where s.kind = 30 and (entry ->> 'itemType')::int >= 2
      ) item
      left join log.contract_alias alias using (chain_id, address)
    ) named (chain_id, address)
    where not exists (
      select from log.contract c where c.chain_id = named.chain_id and c.address = named.address
    )`)};
end
$$`;

/**
 * Takes out of the stage what is there twice and what the log holds. Only blocks that the log knew before this append
 * can hold anything of it, so a new block's facts are not looked up.
 */
const removeHeld = `
create function log.remove_held_from_stage(known bigint[]) returns void
language plpgsql as $$
declare
  observes boolean;
  repeats boolean;
begin
  observes := exists (select from pg_temp.staged s where s.identity is not null);
  ${freshlyPlanned(`
    select exists (
      select from pg_temp.staged s group by s.log_index, s.block_hash, s.sub_index having count(*) > 1
    )`)} into repeats;
  if repeats or observes then
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
  end if;
  if known <> '{}' then
    ${freshlyPlanned(`
      delete from pg_temp.staged s
      using log.block b, log.fact f
      where b.block_id = any ($1) and s.chain_id = b.chain_id and s.block_hash = b.hash
        and f.block_id = b.block_id and f.log_index = s.log_index and f.sub_index = s.sub_index`)} using known;
  end if;
  if observes then
    delete from pg_temp.staged s using log.fact f where f.identity = s.identity;
  end if;
end
$$`;

/**
 * Moves pg_temp.staged into the log. Positions follow staged.ord. Facts that the log holds already are skipped.
 * Returns the number of new facts and the position of the last fact of the log.
 */
const appendStaged = `
create function log.append_staged(out appended bigint, out last_position bigint)
language plpgsql as $$
declare
  base bigint;
begin
  select position into strict base from log.head for update;
  perform log.remove_held_from_stage(log.add_staged_blocks());
  perform log.add_staged_contracts();
  ${freshlyPlanned(`
    insert into log.transaction (block_id, transaction_index, hash)
    select b.block_id, named.transaction_index, named.hash
    from (
      select distinct s.chain_id, s.block_hash, s.transaction_index, s.transaction_hash as hash
      from pg_temp.staged s
      where s.transaction_hash is not null
    ) named
    join log.block b on b.chain_id = named.chain_id and b.hash = named.block_hash
    order by b.block_id, named.transaction_index
    on conflict do nothing`)};

  ${freshlyPlanned(`
    insert into log.fact (position, block_id, transaction_index, log_index, contract_id, sub_index, kind,
                          token_id, amount, from_address, to_address, order_hash, identity, recorded_at, payload)
    select $1 + row_number() over (order by s.ord), b.block_id, s.transaction_index, s.log_index, c.contract_id,
           s.sub_index, s.kind, s.token_id, s.amount, s.from_address, s.to_address, s.order_hash, s.identity,
           s.recorded_at, s.payload
    from pg_temp.staged s
    left join (${stagedBlocks}) b on b.chain_id = s.chain_id and b.hash = s.block_hash
    left join (${stagedContracts}) c on c.chain_id = s.chain_id and c.address = s.contract`)} using base;
  get diagnostics appended = row_count;

  last_position := base + appended;
  if appended > 0 then
    update log.head set position = last_position;
    perform pg_notify('log', last_position::text);
  end if;
end
$$`;

/** Appends a retraction (1) or re-adoption (2) for each block whose state it changes. */
const appendBlockStates = `
create function log.append_block_states(state smallint, blocks bigint[], at timestamptz)
returns bigint
language plpgsql as $$
declare
  base bigint;
  appended bigint;
begin
  select position into strict base from log.head for update;
  insert into log.fact (position, block_id, kind, recorded_at)
  select base + row_number() over (order by changing.block_id), changing.block_id, state, at
  from (
    select distinct b.block_id
    from log.block b
    where b.block_id = any (blocks)
      and (b.block_id in (select d.block_id from log.dropped(base) d)) <> (state = 1)
  ) changing;
  get diagnostics appended = row_count;
  if appended > 0 then
    update log.head set position = base + appended;
    perform pg_notify('log', (base + appended)::text);
  end if;
  return appended;
end
$$`;
