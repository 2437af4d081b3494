import { type Kysely, sql } from "kysely";

/** How far a chain's history was proved, what is final on it, and which of its nodes cannot be used. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table ops.history_proof (
     chain_id     integer     primary key,
     sources      text        not null,
     first_number bigint      not null,
     proved_from  bigint      not null,
     proved_to    bigint      not null,
     parent_hash  text        not null,
     head_hash    text        not null,
     evidence     text        check (evidence in ('receipts', 'blooms')),
     sampled      bigint      not null default 0,
     repaired     bigint      not null default 0,
     differing    bigint      not null default 0,
     repaired_at  timestamptz,
     updated_at   timestamptz not null default now()
   )`,
  "comment on table ops.history_proof is 'Blocks of each chain whose receipts made the root of their header, and whose events the log holds: from proved_from to proved_to without a gap. sampled: blocks below these that were proved alone.'",
  `create table ops.chain_finality (
     chain_id   integer     primary key,
     number     bigint      not null,
     said_by    text        not null check (said_by in ('tag', 'depth')),
     deepest    bigint      not null default 0,
     updated_at timestamptz not null default now()
   )`,
  "comment on table ops.chain_finality is 'Highest block of each chain that is final: by the finalized tag of its nodes, or by depth where no node serves it. deepest: the most blocks that the tag was seen below the head. Never lower than before.'",
  `create table ops.node_fault (
     chain_id integer     not null,
     part     text        not null,
     reason   text        not null,
     hosts    text[]      not null,
     since    timestamptz not null default now(),
     seen_at  timestamptz not null default now(),
     primary key (chain_id, part)
   )`,
  "comment on table ops.node_fault is 'Why an indexer cannot use a node, by its host, or what of a chain waits, as long as it does.'",
];
