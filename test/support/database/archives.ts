import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";
import {
  type Partition,
  readPartitions,
} from "../../../projections/log/partitions/read-partitions.ts";

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

/** The partition that begins at a position. */
export async function partitionAt(db: Database, first: bigint): Promise<Partition> {
  const found = (await readPartitions(db)).find((one) => one.first === first);
  if (found === undefined) throw new Error(`no partition begins at ${first}`);
  return found;
}
