import { type Kysely, sql } from "kysely";

/** Several indexers of a chain, each of some sources, which can be added and removed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** The first id of the height above the one that a chain's recorder has settled. */
const aboveSettled = `(r.chain_id::bigint << 44) | ((max(substr(r.settled_id, 27, 16)::bigint) + 1) << 12)`;

const statements = [
  `alter table ops.indexer
     add column name text not null default 'core',
     add column caught_up_at timestamptz,
     add column blocks_per_second double precision,
     drop constraint indexer_pkey,
     add primary key (chain_id, name)`,
  "comment on table ops.indexer is 'The indexers of each chain: a Ponder process and its schema, which is recorded. A changed configuration is indexed into a new schema; it stands here once it has caught up.'",
  "comment on column ops.indexer.caught_up_at is 'When it first followed new blocks; null: it is catching up.'",
  "update ops.indexer set caught_up_at = started_at",

  "alter table ops.recorder add column indexer text not null default 'core'",

  `create table ops.source (
     chain_id      integer     not null,
     source        text        not null,
     indexer       text        not null,
     left_indexer  text,
     event_sources text[]      not null,
     address       text,
     first_block   bigint,
     added_by      text        not null check (added_by in ('configuration', 'operator')),
     added_at      timestamptz not null default now(),
     removed_by    text        check (removed_by in ('configuration', 'operator')),
     removed_at    timestamptz,
     primary key (chain_id, source)
   )`,
  "comment on table ops.source is 'Exchanges and collections that are indexed, and by which indexer. left_indexer: another that still has its events, which are not recorded from there. event_sources: names stored with their events; address: of a collection. Events of a removed one are not recorded.'",

  `create table ops.recorded_block (
     chain_id integer not null,
     indexer  text    not null,
     block_id bigint  not null,
     events   integer not null,
     primary key (chain_id, indexer, block_id)
   )`,
  "create index on ops.recorded_block (block_id)",
  "comment on table ops.recorded_block is 'Blocks that are not settled: how many events of an indexer the log holds of each.'",
  `insert into ops.recorded_block (chain_id, indexer, block_id, events)
   select r.chain_id, 'core', held.block_id, held.events
   from (select r.chain_id, ${aboveSettled} as above from ops.recorder r group by r.chain_id) r
   cross join lateral (
     select f.block_id, count(*) as events from log.fact f
     where f.block_id >= r.above and f.block_id < (r.chain_id::bigint + 1) << 44
       and f.log_index is not null and f.sub_index = 0
     group by f.block_id
   ) held`,
];
