import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { blockIdRange, firstBlockId } from "#projections/log/blocks.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import { blockNumberIn } from "#projections/log/recording/ponder-events.ts";

const stateKinds = kindList("block_retracted", "block_readopted");
const fetches = kindList("token_metadata_fetched", "contract_metadata_fetched");

/**
 * The highest block of each chain that is final, by the chain's own word where an indexer asked for it, and recorded to its
 * end. Chains without one are left out.
 */
export async function readFinalBlocks(
  db: Database,
  chainIds: readonly number[],
): Promise<ReadonlyMap<number, bigint>> {
  const { rows } = await sql<{ chainId: number; number: bigint | null }>`
    select r.chain_id as "chainId", least(max(${blockNumberIn("r.settled_id")}), max(f.number)) as number
    from ops.recorder r left join ops.chain_finality f using (chain_id)
    where r.chain_id = any (${chainIds}::int[]) group by r.chain_id`.execute(db);
  return new Map(
    rows.flatMap(({ chainId, number }) => (number === null ? [] : [[chainId, number]])),
  );
}

/** The position, `upTo` at most, up to which every event is of a final block. */
export async function readFinalPosition(
  db: Database,
  chainIds: readonly number[],
  upTo: bigint,
): Promise<bigint> {
  const final = await readFinalBlocks(db, chainIds);
  let position = upTo;
  for (const chainId of chainIds) {
    const number = final.get(chainId);
    if (number === undefined) return 0n;
    const { to } = blockIdRange(chainId);
    const from = firstBlockId(chainId, number + 1n);
    const { rows } = await sql<{ first: bigint | null }>`
      select min(position) as first from (
        select position from log.fact
        where block_id >= ${from} and block_id < ${to} and log_index is not null
        union all
        select position from log.fact
        where block_id >= ${from} and block_id < ${to} and log_index is null and kind not in ${stateKinds}
          and kind in ${fetches}
      ) f`.execute(db);
    const first = rows[0]?.first ?? null;
    if (first !== null && first <= position) position = first - 1n;
  }
  return position;
}
