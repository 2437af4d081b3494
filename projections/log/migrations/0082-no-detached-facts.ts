import { type Kysely, sql } from "kysely";

/**
 * The log has all facts: partitions are detached no more, and a log that lacks some is refused. The tables of archives stay,
 * since the release before this one may run beside it and reads them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const refuseDetach = `
create function log.refuse_detach() returns trigger
language plpgsql as $$
begin
  raise object_not_in_prerequisite_state using
    message = 'the release that this database was migrated to knows no detached partitions';
end
$$`;

/** After the trigger is there: a detach that has not ended is waited for, and seen. */
const refuseDetached = `
do $$
declare
  detached text;
begin
  select string_agg(format('%s to %s', first_position, last_position), ', ' order by first_position) into detached
  from log.archive where detached_at is not null;
  if detached is not null then
    raise object_not_in_prerequisite_state using
      message = 'facts are in archives alone (positions ' || detached
        || '): bring them back with the release before this one, op log attach, then migrate again';
  end if;
end
$$`;

/** As before detached facts. */
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
$$`;

/** As before detached facts. */
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
    update log.head set position = base + appended;
    perform pg_notify('log', (base + appended)::text);
  end if;
  return appended;
end
$$`;

const statements = [
  refuseDetach,
  "revoke execute on function log.refuse_detach() from public",
  "create trigger no_detached_partition before insert on log.detached_range for each statement execute function log.refuse_detach()",
  refuseDetached,
  appendStaged,
  appendBlockStates,
  "drop function log.remove_detached_from_stage(bigint[]), log.refuse_detached(integer, bigint, bigint)",
  ...["archive", "detached_block", "detached_range"].map(
    (table) =>
      `comment on table log.${table} is 'No longer used: the release before 0082-no-detached-facts reads it.'`,
  ),
];
