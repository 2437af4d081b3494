import { sql } from "kysely";
import type { Database } from "../log/database.ts";
import type { ReadingBasis } from "../log/readings.ts";
import { logHead } from "../log/blocks.ts";
import { byteaArray } from "../log/sql-values.ts";

/**
 * Whether no block that readings were made at is retracted: those of a node that has not followed a reorg yet are not
 * effective.
 */
export async function areBasesEffective(
  db: Database,
  chainId: number,
  bases: readonly ReadingBasis[],
): Promise<boolean> {
  const hashes = bases.map(({ hash }) => hash);
  const { rows } = await sql`
    select from log.block b join log.retracted_blocks(${logHead}) d using (block_id)
    where b.chain_id = ${chainId} and b.hash = any (${byteaArray(hashes)}) limit 1`.execute(db);
  return rows.length === 0;
}
