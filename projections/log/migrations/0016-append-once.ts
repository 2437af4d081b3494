import { type Kysely, sql } from "kysely";

/** The appender, with a statement for the ids of blocks and one for all the rest. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const replaced =
    "drop function log.remove_held_from_stage(bigint[]), log.add_staged_blocks(), log.add_staged_contracts()";
  for (const statement of [replaced, addBlocks, removeRepeated, store, appendStaged]) {
    await sql.raw(statement).execute(db);
  }
}

/**
 * Gives every staged block an id: chain << 44 | number << 12 | fork. The head's row is locked by the caller. Returns
 * the ids of all by chain and hash, those that the log knew already, and how many facts of which numbers are staged.
 */
const addBlocks = `
create function log.add_staged_blocks(
  out chains integer[], out hashes bytea[], out ids bigint[], out known bigint[], out staged bigint, out observed bigint,
  out first bigint, out last bigint
) language plpgsql as $$
declare
  exceeds boolean;
begin
  with named as materialized (
    select s.chain_id, s.block_number as number, s.block_hash as hash, min(s.block_timestamp) as timestamp,
           min(s.ord) as ord, max(s.ord) as last_ord, count(*) as facts, count(s.identity) as observed
    from pg_temp.staged s
    group by s.chain_id, s.block_number, s.block_hash
  ), found as materialized (
    select n.*, b.block_id
    from named n left join lateral (
      select b.block_id from log.block b where b.chain_id = n.chain_id and b.hash = n.hash offset 0
    ) b on true
    where n.hash is not null
  ), added as (
    insert into log.block (block_id, chain_id, number, hash, timestamp)
    select (n.chain_id::bigint << 44) | (n.number << 12) | (
             (select count(*) from log.block b
              where b.block_id >= (n.chain_id::bigint << 44) | (n.number << 12)
                and b.block_id < (n.chain_id::bigint << 44) | ((n.number + 1) << 12))
             + row_number() over (partition by n.chain_id, n.number order by n.ord) - 1),
           n.chain_id, n.number, n.hash, n.timestamp
    from found n
    where n.block_id is null
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
         (select bool_or(n.number >= 1::bigint << 32 or n.chain_id >= 1 << 19) from found n)
  into chains, hashes, ids, known, staged, observed, first, last, exceeds
  from block b;
  if exceeds then
    raise exception 'a block number or chain id exceeds what a block id holds';
  end if;
end
$$`;

const removeRepeated = `
create function log.remove_repeated_from_stage() returns void
language plpgsql as $$
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
$$`;

/** The few blocks and contracts of a stage are looked up once each rather than per fact. */
const factsAt = (position: string) => `
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
    select ${position}, b.block_id, s.transaction_index, s.log_index, c.contract_id,
           s.sub_index, s.kind, s.token_id, s.amount, s.from_address, s.to_address, s.order_hash, s.identity, s.recorded_at,
           s.payload
    from pg_temp.staged s
    left join block b on b.chain_id = s.chain_id and b.hash = s.block_hash
    left join contract c on c.chain_id = s.chain_id and c.address = s.contract`;

const numbered = factsAt("$1 + row_number() over (order by s.ord)");
/** Of facts that are numbered without gaps, as most are staged: they need not be sorted. */
const asNumbered = factsAt("$1 + s.ord");

/**
 * Stores the staged facts behind position \`base\`; \`before\` is the number before their first where they are numbered
 * without gaps, else null. Returns how many. Of small stages the statement is planned once, as planning takes longer than
 * the work, and of large ones whenever it runs. To find contracts by merging would have the whole stage sorted.
 */
const store = `
create function log.store_staged(
  base bigint, chains integer[], hashes bytea[], ids bigint[], is_small boolean, before bigint
) returns bigint language plpgsql set enable_mergejoin = off as $$
declare
  stored bigint;
begin
  if is_small then
    ${numbered};
  elsif before is null then
    execute $plan$${numbered}$plan$ using base, chains, hashes, ids;
  else
    execute $plan$${asNumbered}$plan$ using base - before, chains, hashes, ids;
  end if;
  get diagnostics stored = row_count;
  return stored;
end
$$`;

/**
 * Moves pg_temp.staged into the log. Positions follow staged.ord. Facts that the log holds already are skipped.
 * Returns the number of new facts and the position of the last fact of the log. What the log holds of events is looked
 * for in blocks that it knew, of which alone it can hold some; what a stage of events holds twice, when that turns out.
 */
const appendStaged = `
create or replace function log.append_staged(out appended bigint, out last_position bigint)
language plpgsql as $$
declare
  base bigint;
  given record;
  removed bigint := 0;
  before bigint;
begin
  select position into strict base from log.head for update;
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
  elsif given.last - given.first + 1 = given.staged - removed then
    before := given.first - 1;
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
