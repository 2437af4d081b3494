import { type Kysely, sql } from "kysely";

/** The facts about a token's metadata, read where a block of one is retracted; and who asked for a refetch, and when. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  "create index fact_metadata on only log.fact (contract_id, token_id) where kind in (13, 92, 93, 94)",
  `create table ops.metadata_request (
     chain_id     integer       not null,
     contract_id  integer       not null,
     token_id     numeric(78,0) not null,
     requested_at timestamptz   not null,
     is_pending   boolean       not null default true,
     primary key (contract_id, token_id)
   )`,
  "create index metadata_request_pending on ops.metadata_request (chain_id, requested_at) where is_pending",
  "create index metadata_request_time on ops.metadata_request (requested_at)",
  "comment on table ops.metadata_request is 'Tokens whose metadata callers asked to be fetched again: one request in ten minutes.'",
];
