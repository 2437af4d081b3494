import { type Kysely, sql } from "kysely";

/** Which of Ponder's schemas the recorder reads, per chain. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  "create schema if not exists ops",
  `create table if not exists ops.indexer (
     chain_id      integer     primary key,
     ponder_schema text        not null,
     started_at    timestamptz not null
   )`,
  "comment on table ops.indexer is 'A changed configuration is indexed into a new schema; it stands here once it has caught up.'",
];
