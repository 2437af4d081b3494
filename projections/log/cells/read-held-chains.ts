import { sql } from "kysely";
import type { Session } from "../../database.ts";

/** Of some chains those that this database serves: it has facts of them, and they were not moved to another. */
export async function readHeldChains(
  session: Session,
  chainIds: readonly number[],
): Promise<Set<number>> {
  const { rows } = await sql<{ chainId: number }>`
    select asked.chain_id as "chainId" from unnest(${chainIds}::int[]) asked (chain_id)
    where exists (
      select from log.block b
      where b.block_id >= asked.chain_id::bigint << 44 and b.block_id < (asked.chain_id::bigint + 1) << 44
    ) and not exists (
      select from ops.moved_chain moved where moved.chain_id = asked.chain_id and moved.moved_at is not null
    )`.execute(session);
  return new Set(rows.map(({ chainId }) => chainId));
}

/** Chains that are moved to this database, or were. */
export async function readArrivingChains(session: Session): Promise<Set<number>> {
  const { rows } = await sql<{ chainId: number }>`
    select chain_id as "chainId" from ops.arriving_chain`.execute(session);
  return new Set(rows.map(({ chainId }) => chainId));
}
