import { type Kysely, sql } from "kysely";

/** Who works, how far recent blocks and finalized ranges were compared with the chain, and which indexing counts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table ops.lease (
     role       text        primary key,
     owner      text        not null,
     epoch      bigint      not null,
     expires_at timestamptz not null
   )`,
  "comment on table ops.lease is 'Who alone may work in a role, until when by the clock of the database. Each holder has an epoch of its own.'",

  `create table ops.basis_review (
     chain_id       integer primary key,
     settled_number bigint  not null
   )`,
  "comment on table ops.basis_review is 'Height up to which the blocks of observations are final and were compared with the chain.'",

  `create table ops.audit (
     chain_id    integer     not null,
     asked       text        not null,
     next_number bigint      not null,
     last_number bigint      not null,
     findings    jsonb       not null,
     updated_at  timestamptz not null,
     primary key (chain_id, asked)
   )`,
  "comment on table ops.audit is 'Comparisons of the log with a chain that have not come to their end.'",

  "alter table ops.indexer add column generation integer not null default 0",
  "comment on column ops.indexer.generation is 'Raised to index a chain anew: it is part of the name of the schema of Ponder.'",
];
