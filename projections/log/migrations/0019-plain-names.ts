import { type Kysely, sql } from "kysely";

/** Names in the words of the field: retracted blocks, positions excluded from a projection, the observation reorg check. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** Blocks that are retracted at a position: their last state up to it is a retraction. */
const retractedBlocks = `
create function log.retracted_blocks(up_to bigint) returns table (block_id bigint)
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

/** Appends a retraction (1) or re-adoption (2) for each block whose state it changes. */
const appendBlockStates = `
create or replace function log.append_block_states(state smallint, blocks bigint[], at timestamptz)
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
  retractedBlocks,
  appendBlockStates,
  "drop function log.dropped(bigint)",
  "alter table engine.checkpoint rename column left_out to excluded_positions",
  "alter table ops.basis_review rename to observation_check",
  "alter index ops.basis_review_pkey rename to observation_check_pkey",
];
