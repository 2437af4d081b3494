import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";

/** The chain's only indexer, and its recorder, hold all blocks up to one for final. */
export async function settle(db: Database, chainId: number, number: number): Promise<void> {
  const id = `${"0".repeat(26)}${String(number).padStart(16, "0")}${"9".repeat(33)}`;
  const schema = `chain_${chainId}`;
  await sql`
    insert into ops.indexer (chain_id, ponder_schema, started_at) values (${chainId}, ${schema}, now())
    on conflict do nothing`.execute(db);
  await sql`
    insert into ops.recorder (chain_id, ponder_schema, settled_id) values (${chainId}, ${schema}, ${id})
    on conflict (chain_id, ponder_schema) do update set settled_id = excluded.settled_id`.execute(
    db,
  );
}
