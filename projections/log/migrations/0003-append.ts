import { type Kysely, sql } from "kysely";

/** The appender: what is staged in a session becomes facts with dense positions, each identity once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [dropped, blockOf, appendStaged, appendBlockStates]) {
    await sql.raw(statement).execute(db);
  }
}

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

/** Gives every staged block an id: chain << 44 | number << 12 | fork. The head's row is locked by the caller. */
const blockOf = `
create function log.add_staged_blocks() returns void
language plpgsql as $$
begin
  insert into log.block (block_id, chain_id, number, hash, timestamp)
  select (fresh.chain_id::bigint << 44) | (fresh.number << 12) | fresh.fork,
         fresh.chain_id, fresh.number, fresh.hash, fresh.timestamp
  from (
    select s.chain_id, s.block_number as number, s.block_hash as hash, min(s.block_timestamp) as timestamp,
           (select count(*) from log.block b
            where b.block_id >= (s.chain_id::bigint << 44) | (s.block_number << 12)
              and b.block_id < (s.chain_id::bigint << 44) | ((s.block_number + 1) << 12))
           + row_number() over (partition by s.chain_id, s.block_number order by min(s.ord)) - 1 as fork
    from pg_temp.staged s
    where s.block_hash is not null
      and not exists (select from log.block b where b.chain_id = s.chain_id and b.hash = s.block_hash)
    group by s.chain_id, s.block_number, s.block_hash
  ) fresh;
  if exists (select from pg_temp.staged s where s.block_number >= 1::bigint << 32 or s.chain_id >= 1 << 19) then
    raise exception 'a block number or chain id exceeds what a block id holds';
  end if;
  if exists (
    select from log.block b join (select distinct chain_id, block_hash from pg_temp.staged) s
      on b.chain_id = s.chain_id and b.hash = s.block_hash
    where b.block_id >> 12 <> (b.chain_id::bigint << 32) | b.number
  ) then
    raise exception 'more than 4096 blocks were seen at one height';
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
  perform log.add_staged_blocks();

  insert into log.contract (chain_id, address)
  select distinct named.chain_id, named.address
  from (
    select s.chain_id, s.contract from pg_temp.staged s where s.contract is not null
    union
    select item.chain_id, coalesce(alias.stands_for, item.address)
    from (
      select s.chain_id, decode(substr(entry ->> 'token', 3), 'hex') as address
      from pg_temp.staged s
      cross join lateral jsonb_array_elements((s.payload -> 'offer') || (s.payload -> 'consideration')) entry
      where s.kind = 30 and (entry ->> 'itemType')::int >= 2
    ) item
    left join log.contract_alias alias using (chain_id, address)
  ) named (chain_id, address)
  where not exists (
    select from log.contract c where c.chain_id = named.chain_id and c.address = named.address
  );

  insert into log.transaction (block_id, transaction_index, hash)
  select distinct b.block_id, s.transaction_index, s.transaction_hash
  from pg_temp.staged s
  join log.block b on b.chain_id = s.chain_id and b.hash = s.block_hash
  where s.transaction_hash is not null
    and not exists (
      select from log.transaction t
      where t.block_id = b.block_id and t.transaction_index = s.transaction_index
    );

  insert into log.fact (position, block_id, transaction_index, log_index, contract_id, sub_index, kind,
                        token_id, amount, from_address, to_address, order_hash, identity, recorded_at, payload)
  select base + row_number() over (order by fresh.ord), fresh.block_id, fresh.transaction_index, fresh.log_index,
         fresh.contract_id, fresh.sub_index, fresh.kind, fresh.token_id, fresh.amount, fresh.from_address,
         fresh.to_address, fresh.order_hash, fresh.identity, fresh.recorded_at, fresh.payload
  from (
    select distinct on (case when s.identity is null then b.block_id end, s.log_index, s.sub_index, s.identity)
           s.*, b.block_id, c.contract_id
    from pg_temp.staged s
    left join log.block b on b.chain_id = s.chain_id and b.hash = s.block_hash
    left join log.contract c on c.chain_id = s.chain_id and c.address = s.contract
    where not exists (
        select from log.fact f
        where f.block_id = b.block_id and f.log_index = s.log_index and f.sub_index = s.sub_index
      )
      and not exists (select from log.fact f where f.identity = s.identity)
    order by case when s.identity is null then b.block_id end, s.log_index, s.sub_index, s.identity, s.ord
  ) fresh;
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
