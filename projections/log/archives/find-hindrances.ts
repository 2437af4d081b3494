import { sql } from "kysely";
import type { Session } from "../../database.ts";
import { coreIndexer } from "../indexer-id.ts";
import type { Partition } from "../partitions/read-partitions.ts";
import { readLogHead } from "../read-log-head.ts";
import { blockNumberIn } from "../recording/ponder-id.ts";

type Bounds = Pick<Partition, "table" | "first" | "last">;

/**
 * Why a partition may not be archived yet; empty: it may. It must be whole, every fact of it final by all indexers of its
 * chain, and all that reads facts in their order must have passed it. `indexed`: the chains that the service indexes.
 */
export async function findHindrances(
  session: Session,
  partition: Bounds,
  indexed: readonly number[],
): Promise<string[]> {
  const head = await readLogHead(session);
  if (head <= partition.last) return [`the log goes on in it: it is at ${head}`];
  return [
    ...(await findUnfinal(session, partition, indexed)),
    ...(await findBehind(session, partition.last)),
  ];
}

/**
 * Of the indexers those that follow a chain: one whose sources were removed has seen its last block. Nobody tells any more
 * what is final of a chain that is not indexed, or that another database serves: nothing of it is appended here.
 */
async function findUnfinal(
  session: Session,
  { table }: Bounds,
  indexed: readonly number[],
): Promise<string[]> {
  const { rows } = await sql<{ chainId: number; highest: bigint; settled: bigint | null }>`
    with highest as (
      select (block_id >> 44)::int as chain_id, max((block_id >> 12) & 4294967295) as number
      from ${sql.table(table)} where block_id is not null group by 1
    )
    select h.chain_id as "chainId", h.number as highest, settled.number as settled
    from highest h
    left join lateral (
      select case when bool_and(r.settled_id is not null) then min(${blockNumberIn("r.settled_id")}) end as number
      from ops.indexer i left join ops.recorder r using (chain_id, ponder_schema)
      where i.chain_id = h.chain_id and (i.name = ${coreIndexer} or exists (
        select from ops.source s
        where s.chain_id = i.chain_id and s.indexer = i.name and s.removed_at is null))
    ) settled on true
    where (settled.number is null or settled.number < h.number)
      and h.chain_id = any (${[...indexed]}::int[])
    order by h.chain_id`.execute(session);
  return rows.map(({ chainId, highest, settled }) =>
    settled === null
      ? `not every indexer of chain ${chainId} has a final block`
      : `block ${highest} of chain ${chainId} is not final: all indexers are at ${settled}`,
  );
}

/** What reads facts in their order and has not passed a position, or derives from all of them just now. */
export async function findBehind(session: Session, last: bigint): Promise<string[]> {
  const { rows } = await sql<{ reason: string }>`
    select format('projection %s is at %s', projection, position) as reason
    from engine.checkpoint where position < ${last}
    union all
    select format('analytics engine %s is at %s (no longer used: op analytics forget %s)', engine, position, engine)
    from ops.analytics_engine where position <= ${last}
    union all
    select format('%s is being derived from the whole log', n.nspname)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relname = 'bulk_progress'
    order by reason`.execute(session);
  return rows.map(({ reason }) => reason);
}
