import { type Kysely, sql } from "kysely";

/**
 * Where a transaction's facts were appended by two calls one right after the other. Elsewhere positions tell which facts
 * of a transaction were appended together: those in a row. The feed depends on it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** As before, and notes where the transaction of the log's last event goes on. */
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

const statements = [
  "create table log.transaction_part (position bigint primary key)",
  "comment on table log.transaction_part is 'Facts that were appended later than the one before them, though both are of one transaction.'",
  appendStaged,
];
