import { type Kysely, sql } from "kysely";

/**
 * What the log knows of facts that are in archives alone: the events of each block, so that one that is appended again
 * changes nothing, and the blocks of each archive, so that appends to other blocks need not look.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** Without those of a detach, or of a return, that has not ended. */
const detachedBlocks = `(
  select b.* from log.detached_block b
  where exists (select from log.detached_range g where g.first_position = b.first_position)) r`;

/** The events of blocks whose facts were detached, one row each. */
const detachedEvents = `
  select r.block_id, event.log_index, event.sub_index
  from ${detachedBlocks} cross join lateral unnest(
    r.log_indexes, coalesce(r.sub_indexes, array_fill(0, array[cardinality(r.log_indexes)]))
  ) as event (log_index, sub_index)`;

/**
 * Removes from the stage what archives hold. A sale is translated from all events of its transaction: a new one beside
 * detached ones would make another sale of it.
 */
const removeDetached = `
create function log.remove_detached_from_stage(known bigint[]) returns bigint
language plpgsql as $$
declare
  removed bigint;
  block record;
begin
  delete from pg_temp.staged s using log.block b, (${detachedEvents}) held
  where b.block_id = any (known) and s.chain_id = b.chain_id and s.block_hash = b.hash
    and held.block_id = b.block_id and held.log_index = s.log_index and held.sub_index = s.sub_index;
  get diagnostics removed = row_count;
  select b.chain_id, b.number, r.first_position into block
  from pg_temp.staged s join log.block b on b.chain_id = s.chain_id and b.hash = s.block_hash
  join ${detachedBlocks} on r.block_id = b.block_id and r.holds_sales
  where b.block_id = any (known) and s.kind in (30, 34, 35)
  limit 1;
  if found then
    perform log.refuse_detached(block.chain_id, block.number, block.first_position);
  end if;
  return removed;
end
$$`;

const refuseDetached = `
create function log.refuse_detached(chain_id integer, number bigint, first_position bigint) returns void
language plpgsql as $$
begin
  raise object_not_in_prerequisite_state using
    message = format('block %s of chain %s has facts that are in an archive alone', number, chain_id),
    hint = format('Bring them back: op log attach --partition %s', first_position);
end
$$`;

/** As before, and without facts that archives hold. */
const appendStaged = `
create or replace function log.append_staged(out appended bigint, out last_position bigint)
language plpgsql as $$
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
    if exists (
      select from log.detached_range r, unnest(given.known) as known (block_id)
      where known.block_id between r.first_block_id and r.last_block_id
    ) then
      removed := removed + log.remove_detached_from_stage(given.known);
    end if;
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
    update log.head set position = last_position;
    perform pg_notify('log', last_position::text);
  end if;
end
$$`;

/** As before, and never of blocks that an archive holds events of: what was before a retracted one may be there alone. */
const appendBlockStates = `
create or replace function log.append_block_states(state smallint, blocks bigint[], at timestamptz) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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
    perform log.refuse_detached(b.chain_id, b.number, r.first_position)
    from log.fact f join log.detached_range r on f.block_id between r.first_block_id and r.last_block_id
    join log.block b using (block_id)
    where f.position > base and f.position <= base + appended;
    update log.head set position = base + appended;
    perform pg_notify('log', (base + appended)::text);
  end if;
  return appended;
end
$$`;

const statements = [
  "alter table log.archive add column detached_at timestamptz",
  "comment on column log.archive.detached_at is 'Since when the file alone has the facts of the partition that are not needed every day; null: the log has all.'",
  `create table log.detached_block (
     block_id       bigint    primary key,
     first_position bigint    not null,
     holds_sales    boolean   not null,
     log_indexes    integer[] not null,
     sub_indexes    integer[]
   )`,
  "comment on table log.detached_block is 'Events that are in archives alone, by block. sub_indexes: of each log index; null: all are 0.'",
  `create table log.detached_range (
     first_position bigint  not null,
     chain_id       integer not null,
     first_block_id bigint  not null,
     last_block_id  bigint  not null,
     primary key (first_position, chain_id)
   )`,
  "comment on table log.detached_range is 'The blocks of each chain that detached partitions have events of, with all forks of their heights. Rows of log.detached_block without one here are of a detach that has not ended.'",
  refuseDetached,
  removeDetached,
  appendStaged,
  appendBlockStates,
  "revoke execute on function log.refuse_detached(integer, bigint, bigint), log.remove_detached_from_stage(bigint[]) from public",
];
