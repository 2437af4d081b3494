import { sql } from "kysely";
import type { Database } from "../../projections/database.ts";

/** Names the schema that the recorder shall read from. */
export async function activateSchema(db: Database, chainId: number, schema: string): Promise<void> {
  await sql`
    insert into ops.indexer (chain_id, ponder_schema, started_at) values (${chainId}, ${schema}, now())
    on conflict (chain_id) do update set ponder_schema = excluded.ponder_schema, started_at = now()
  `.execute(db);
}

/** Names it unless the recorder has one: the first backfill is recorded while it goes on. */
export async function activateFirstSchema(
  db: Database,
  chainId: number,
  schema: string,
): Promise<void> {
  await sql`
    insert into ops.indexer (chain_id, ponder_schema, started_at) values (${chainId}, ${schema}, now())
    on conflict (chain_id) do nothing
  `.execute(db);
}
