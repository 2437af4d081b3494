import { type Kysely, sql } from "kysely";

/**
 * What the log needs to be partitioned by position: where its partitions end, and functions that append to either form. The
 * move itself is `../partitions/partition-log.ts`: it goes on beside appends and reads.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** A quarter of a partition is left when the next one is made: no append waits for it. */
const nears = (position: string) => `${position} >= ends - size / 4`;

const copyGrants = `
create function log.copy_grants(source regclass, target regclass) returns void
language plpgsql as $$
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
$$`;

/**
 * Makes the partitions for positions up to \`up_to\` and those that come soon. A partition is made as a table and then
 * attached, which no reader waits for. Its indexes are the log's; events and identities are unique in each partition, and
 * over all of them since appends look for what the log holds.
 */
const addPartitions = `
create function log.add_partitions(up_to bigint) returns void
language plpgsql as $$
declare
  size bigint;
  ends bigint;
  own record;
begin
  select partition_size, partitions_end into strict size, ends from log.head for update;
  if (select c.relkind from pg_class c where c.oid = 'log.fact'::regclass) <> 'p' then
    -- The move to partitions was begun and not ended: what it needs would refuse the next facts.
    alter table log.fact drop constraint if exists fact_range;
    update log.head set partitions_end = null;
    return;
  end if;
  begin
    lock table only log.fact in share update exclusive mode nowait;
  exception when lock_not_available then
    -- While it is analyzed: a later append makes them, as long as there is room.
    if up_to < ends then return; end if;
    lock table only log.fact in share update exclusive mode;
  end;
  while ${nears("up_to")} loop
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
$$`;

/**
 * Moves pg_temp.staged into the log. Positions follow staged.ord. Facts that the log holds already are skipped.
 * Returns the number of new facts and the position of the last fact of the log. What the log holds of events is looked
 * for in blocks that it knew, of which alone it can hold some; what a stage of events holds twice, when that turns out, or
 * before where it would not turn out: in two partitions.
 */
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
  if ${nears("base + given.staged")} then
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

/** Appends a retraction (1) or re-adoption (2) for each block whose state it changes. */
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
  if ${nears("base + cardinality(blocks)")} then
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

/**
 * Gathers statistics over all partitions when the log has grown by a fifth since: autovacuum gathers those of each partition
 * alone, and joins are planned with those of all.
 */
const analyzeFacts = `
create function log.analyze_facts() returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  reached bigint;
begin
  select position into reached from log.head
  where partitions_end is not null and position > analyzed_position + analyzed_position / 5 + 1000;
  if not found or (select c.relkind from pg_class c where c.oid = 'log.fact'::regclass) <> 'p' then
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
$$`;

const statements = [
  `alter table log.head
     add column partition_size bigint not null default 20000000 check (partition_size >= 4),
     add column partitions_end bigint,
     add column analyzed_position bigint not null default 0`,
  "comment on column log.head.partition_size is 'Positions of a partition of log.fact. Every border between two is a multiple of it.'",
  "comment on column log.head.partitions_end is 'The first position behind the last partition. Null: log.fact has none, and is to be moved (op migrate).'",
  "comment on column log.head.analyzed_position is 'The last fact when statistics over all partitions were gathered.'",
  copyGrants,
  addPartitions,
  appendStaged,
  appendBlockStates,
  analyzeFacts,
  "revoke execute on function log.copy_grants(regclass, regclass), log.add_partitions(bigint), log.analyze_facts() from public",
];
