import { sql } from "kysely";
import { appendObservationsIn, appendStaged, type Observation, openStage } from "./append.ts";
import { appendBlockStates, blockIdRange, firstBlockId, logHead } from "./blocks.ts";
import type { Database } from "./database.ts";
import { kindList } from "./fact-kinds.ts";
import { readIndexedBlocks } from "./progress.ts";
import { blockNumberIn, type DecodedEvent, stageDecoded } from "./recording/ponder-events.ts";
import type { PoolCoins } from "./recording/pools-and-punks.ts";
import { orphans, type RecordedBlock } from "./recording/reconcile.ts";
import type { Recording } from "./recording/recorder.ts";
import { coreIndexer, readIndexerNames } from "./sources.ts";

/** A block of the log, with the places of its events. */
type LoggedBlock = {
  blockId: bigint;
  number: number;
  hash: string;
  dropped: boolean;
  logIndexes: number[];
};

/** A block of the chain with events of the indexed sources that become facts. */
export type ChainBlock = { number: number; hash: string; logIndexes: readonly number[] };

export type Difference = {
  /**
   * `missing`: events of the chain that the log lacks. `surplus`: events of the log that the chain lacks.
   * `wrong_block`: a block that counts and is not the chain's. `dropped_block`: one that is, and does not count.
   */
  kind: "missing" | "surplus" | "wrong_block" | "dropped_block";
  number: number;
  hash: string;
  logIndexes: number[];
};

/** The log's blocks with events, at heights from `from` to `to`. */
export async function readLoggedBlocks(
  db: Database,
  chainId: number,
  { from, to }: { from: number; to: number },
): Promise<LoggedBlock[]> {
  const { rows } = await sql<Omit<LoggedBlock, "number"> & { number: bigint }>`
    select b.block_id as "blockId", b.number, b.hash, d.block_id is not null as dropped,
           array_agg(f.log_index order by f.log_index) as "logIndexes"
    from log.fact f join log.block b using (block_id)
    left join log.retracted_blocks(${logHead}) d using (block_id)
    where f.log_index is not null and f.sub_index = 0
      and f.block_id >= ${firstBlockId(chainId, BigInt(from))}
      and f.block_id < ${firstBlockId(chainId, BigInt(to) + 1n)}
    group by b.block_id, d.block_id order by b.block_id`.execute(db);
  return rows.map((row) => ({ ...row, number: Number(row.number) }));
}

/** Height up to which the log has taken over what an indexer holds for final; -1 before the first. */
export async function readSettledNumber(
  db: Database,
  chainId: number,
  indexer: string = coreIndexer,
): Promise<number> {
  const { rows } = await sql<{ number: bigint | null }>`
    select max(${blockNumberIn("r.settled_id")}) as number
    from ops.recorder r join ops.indexer i using (chain_id, ponder_schema)
    where r.chain_id = ${chainId} and i.name = ${indexer}`.execute(db);
  return Number(rows[0]?.number ?? -1n);
}

/** Where log and chain differ. `canonical` says which block is at the heights of the log's blocks. */
export function compareBlocks(
  logged: readonly LoggedBlock[],
  onChain: readonly ChainBlock[],
  canonical: ReadonlyMap<number, string | null>,
): Difference[] {
  const chain = new Map(onChain.map((block) => [block.hash, block]));
  const log = new Map(logged.map((block) => [block.hash, block]));
  const differences: Difference[] = [];
  const add = (kind: Difference["kind"], { number, hash }: ChainBlock, logIndexes: number[]) => {
    if (logIndexes.length > 0) differences.push({ kind, number, hash, logIndexes });
  };
  for (const block of onChain) {
    add("missing", block, without(block.logIndexes, log.get(block.hash)?.logIndexes ?? []));
  }
  for (const block of logged) {
    const isCanonical = canonical.get(block.number) === block.hash;
    if (!isCanonical && !block.dropped) add("wrong_block", block, block.logIndexes);
    if (!isCanonical) continue;
    if (block.dropped) add("dropped_block", block, block.logIndexes);
    add("surplus", block, without(block.logIndexes, chain.get(block.hash)?.logIndexes ?? []));
  }
  return differences.sort((a, b) => a.number - b.number);
}

function without(all: readonly number[], known: readonly number[]): number[] {
  const set = new Set(known);
  return all.filter((one) => !set.has(one));
}

/** Events of the chain that the log lacks, and what their pools are paid in. */
export type MissingEvents = {
  readonly missing: readonly DecodedEvent[];
  readonly coins: PoolCoins;
};

type Repairs = MissingEvents & {
  readonly wrong: readonly bigint[];
  readonly dropped: readonly bigint[];
};

/**
 * Appends the chain's missing events, and lets count the blocks that are the chain's and no others. `fact`: appended with
 * them. Returns the number of facts without it.
 */
export async function repairBlocks(
  db: Database,
  { wrong, dropped, missing, coins }: Repairs,
  at: Date,
  fact?: Observation,
): Promise<number> {
  return await db.transaction().execute(async (session) => {
    // First: which facts a role may append by themselves is looked up for all that is staged.
    if (fact !== undefined) await appendObservationsIn(session, [fact]);
    let appended = await appendBlockStates(session, "block_retracted", wrong, at);
    appended += await appendBlockStates(session, "block_readopted", dropped, at);
    if (missing.length > 0) {
      await openStage(session);
      await stageDecoded(session, missing, coins);
      appended += (await appendStaged(session)).appended;
    }
    return appended;
  });
}

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
