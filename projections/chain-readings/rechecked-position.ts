import { sql } from "kysely";
import type { Database } from "../log/database.ts";

/** Up to where the log was looked through for orders of a chain to recheck; `otherwise`, which is stored, the first time. */
export async function openRecheckedPosition(
  db: Database,
  chainId: number,
  otherwise: bigint,
): Promise<bigint> {
  await sql`
    insert into ops.order_recheck (chain_id, position) values (${chainId}, ${otherwise})
    on conflict do nothing`.execute(db);
  const { rows } = await sql<{ position: bigint }>`
    select position from ops.order_recheck where chain_id = ${chainId}`.execute(db);
  return rows[0]?.position ?? otherwise;
}

export async function storeRecheckedPosition(
  db: Database,
  chainId: number,
  position: bigint,
): Promise<void> {
  await sql`
    update ops.order_recheck set position = ${position} where chain_id = ${chainId}`.execute(db);
}
