import { sql } from "kysely";
import type { Database } from "../database.ts";
import { blockIdRange, firstBlockId } from "./block-id.ts";
import { appendBlockStates } from "./block-states.ts";
import { kindList } from "./fact-kind-sql.ts";
import { logHead } from "./read-log-head.ts";
import type { RecordedBlock } from "./recording/reconcile.ts";
import { orphans } from "./recording/reconcile.ts";
import type { Recording } from "./recording/recording.ts";
import { readIndexerNames } from "./sources.ts";
import { readIndexedBlocks } from "./status.ts";

/**
 * Blocks of each end that one pass asks the chain about at most: the oldest, to settle them, and the newest, in which
 * reorgs happen. While history is indexed none is final, and there may be more blocks between the two.
 */
const BLOCKS = 500;

/** An indexer that so many blocks separate from the one furthest ahead does not notice reorgs by itself. */
const BEHIND_BLOCKS = 5;

/**
 * Checks blocks against the chain whose reorgs no indexer shows: those that observations were made at and that hold no
 * event, and those with events only of indexers that do not follow the chain. Blocks that left the chain are retracted, those that
 * returned readopted. A block `finalityBlocks` below the indexed height is checked for the last time. Returns the number
 * of blocks that changed.
 */
export async function checkObservationBlocks(
  db: Database,
  recording: Omit<Recording, "indexer">,
  finalityBlocks: number,
): Promise<number> {
  const { chainId, canonicalHashes, now, fence } = recording;
  const settled = await readSettled(db, chainId);
  const { indexed, following } = await readIndexerHeights(db, chainId);
  const { oldest, blocks } = await readUnwatchedBlocks(db, chainId, settled, following);
  if (blocks.length === 0) return 0;
  const canonical = await canonicalHashes([...new Set(blocks.map(({ number }) => number))]);
  const effective = blocks.filter(({ isRetracted }) => !isRetracted);
  const retract = orphans(effective, canonical).map(({ blockId }) => blockId);
  const readopt = blocks
    .filter(({ isRetracted, number, hash }) => isRetracted && canonical.get(number) === hash)
    .map(({ blockId }) => blockId);
  const final = settledUpTo(oldest, canonical, BigInt(indexed - finalityBlocks));
  if (retract.length + readopt.length === 0 && final <= settled) return 0;
  return await db.transaction().execute(async (session) => {
    const changed =
      (await appendBlockStates(session, "block_retracted", retract, now())) +
      (await appendBlockStates(session, "block_readopted", readopt, now()));
    if (final > settled) {
      await sql`
        insert into ops.observation_check (chain_id, settled_number) values (${chainId}, ${final})
        on conflict (chain_id) do update set settled_number = excluded.settled_number`.execute(
        session,
      );
    }
    await fence(session);
    return changed;
  });
}

/** The highest of the blocks that are final, below the lowest height at which the chain gave no block. */
function settledUpTo(
  blocks: readonly RecordedBlock[],
  canonical: ReadonlyMap<bigint, string | null>,
  finalNumber: bigint,
): bigint {
  let settled = -1n;
  for (const { number } of blocks) {
    if (number > finalNumber || (canonical.get(number) ?? null) === null) break;
    settled = number;
  }
  return settled;
}

async function readSettled(db: Database, chainId: number): Promise<bigint> {
  const { rows } = await sql<{ number: bigint }>`
    select settled_number as number from ops.observation_check where chain_id = ${chainId}`.execute(
    db,
  );
  return rows[0]?.number ?? -1n;
}

/** The height of the indexer furthest ahead, and the names of those that follow the chain as it does. */
async function readIndexerHeights(
  db: Database,
  chainId: number,
): Promise<{ indexed: number; following: string[] }> {
  const names = await readIndexerNames(db, chainId);
  const heights = await Promise.all(
    names.map(async (name) => (await readIndexedBlocks(db, chainId, name))?.indexed.number ?? 0),
  );
  const indexed = Math.max(0, ...heights);
  const follows = (_: string, index: number) => (heights[index] ?? 0) >= indexed - BEHIND_BLOCKS;
  return { indexed, following: names.filter(follows) };
}

/** In the order of height. `oldest`: those of them that have no other unwatched block between them. */
type UnwatchedBlocks = { blocks: RecordedBlock[]; oldest: RecordedBlock[] };

/**
 * Blocks above a height whose reorgs no indexer shows: with observations and without events, or with events of indexers
 * alone that are behind or were removed.
 */
async function readUnwatchedBlocks(
  db: Database,
  chainId: number,
  after: bigint,
  following: readonly string[],
): Promise<UnwatchedBlocks> {
  const from = firstBlockId(chainId, after + 1n);
  const to = blockIdRange(chainId).to;
  const { rows } = await sql<Omit<RecordedBlock, "events"> & { isOldest: boolean }>`
    select b.block_id as "blockId", b.number, b.hash, d.block_id is not null as "isRetracted",
           unwatched.place <= ${BLOCKS} as "isOldest"
    from (
      select block_id, row_number() over (order by block_id) as place, count(*) over () as blocks
      from (
        select distinct f.block_id from log.fact f
        where f.block_id >= ${from} and f.block_id < ${to} and f.log_index is null and f.kind not in ${kindList("block_retracted", "block_readopted")}
          and not exists (select from log.fact e where e.block_id = f.block_id and e.log_index is not null)
        union
        select r.block_id from ops.recorded_block r
        where r.chain_id = ${chainId} and r.block_id >= ${from}
        group by r.block_id having bool_and(r.indexer <> all (${following}::text[]))
      ) unwatched
    ) unwatched
    join log.block b using (block_id)
    left join log.retracted_blocks(${logHead}) d using (block_id)
    where unwatched.place <= ${BLOCKS} or unwatched.place > unwatched.blocks - ${BLOCKS}
    order by b.block_id`.execute(db);
  const blocks = rows.map(({ isOldest: _, ...row }) => ({ ...row, events: 0 }));
  return { blocks, oldest: blocks.filter((__, index) => rows[index]?.isOldest) };
}
