import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";
import { blockIdRange } from "../../../projections/log/block-id.ts";

/** How far the log is: its facts, and the highest block of each chain that holds any. */
export async function readProgress(db: Database, chainIds: number[]): Promise<string> {
  const { rows: heads } = await sql<{ position: bigint }>`select position from log.head`.execute(
    db,
  );
  const blocks = await Promise.all(chainIds.map((chainId) => readHighestBlock(db, chainId)));
  const chains = chainIds.map((chainId, i) => `chain ${chainId} at block ${blocks[i] ?? "-"}`);
  return [...chains, `${heads[0]?.position ?? 0n} facts`].join(", ");
}

async function readHighestBlock(db: Database, chainId: number): Promise<bigint | undefined> {
  const { from, to } = blockIdRange(chainId);
  const { rows } = await sql<{ number: bigint }>`
    select number from log.block where block_id >= ${from} and block_id < ${to}
    order by block_id desc limit 1`.execute(db);
  return rows[0]?.number;
}
