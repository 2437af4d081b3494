import { type Kysely, sql } from "kysely";

/** Where each projection stands, and the recorder in each Ponder schema. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create schema if not exists engine`.execute(db);
  await sql`
    create table engine.checkpoint (
      projection  text        primary key,
      version     integer     not null,
      parameters  text        not null,
      position    bigint      not null,
      updated_at  timestamptz not null default now()
    )`.execute(db);
  await sql`
    create table ops.recorder (
      chain_id      integer     not null,
      ponder_schema text        not null,
      settled_id    text        not null,
      updated_at    timestamptz not null default now(),
      primary key (chain_id, ponder_schema)
    )`.execute(db);
}
