import { sql } from "kysely";
import type { Database } from "../database.ts";
import { coreIndexer, type IndexerId } from "./indexer-id.ts";
import { blockNumberOf } from "./recording/ponder-id.ts";
import { readSources } from "./sources.ts";
import { readIndexedBlocks } from "./status.ts";

/** How far an indexer and its recorder are. */
export type IndexerProgress = {
  /** Height up to which its events are in the log, as far as they are final. */
  recorded: number;
  /** Whether the log holds all final events that it has indexed. */
  isRecorded: boolean;
  /** Blocks per second of its first pass, of late; null: not known yet. */
  blocksPerSecond: number | null;
  /** It has followed new blocks since its first pass. */
  isCaughtUp: boolean;
};

/** Null while the indexer has not begun. */
export async function readIndexerProgress(
  db: Database,
  { chainId, indexer }: IndexerId,
): Promise<IndexerProgress | null> {
  const { rows } = await sql<{
    schema: string;
    exists: boolean;
    settled: string | null;
    blocksPerSecond: number | null;
    isCaughtUp: boolean;
  }>`
    select i.ponder_schema as schema, r.settled_id as settled, i.blocks_per_second as "blocksPerSecond",
           i.caught_up_at is not null as "isCaughtUp",
           to_regclass(format('%I._ponder_checkpoint', i.ponder_schema)) is not null as exists
    from ops.indexer i left join ops.recorder r using (chain_id, ponder_schema)
    where i.chain_id = ${chainId} and i.name = ${indexer}`.execute(db);
  const row = rows[0];
  if (row === undefined || !row.exists) return null;
  const checkpoints = await sql<{ finalized: string }>`
    select finalized_checkpoint as finalized
    from ${sql.id(row.schema, "_ponder_checkpoint")} where chain_id = ${chainId}`.execute(db);
  const finalized = checkpoints.rows[0]?.finalized;
  if (finalized === undefined) return null;
  const { settled, blocksPerSecond, isCaughtUp } = row;
  return {
    recorded: settled === null ? -1 : Number(blockNumberOf(settled)),
    isRecorded: settled !== null && settled >= finalized,
    blocksPerSecond,
    isCaughtUp,
  };
}

export async function storeRate(
  db: Database,
  { chainId, indexer }: IndexerId,
  blocksPerSecond: number,
): Promise<void> {
  await sql`
    update ops.indexer set blocks_per_second = ${blocksPerSecond}
    where chain_id = ${chainId} and name = ${indexer}`.execute(db);
}

export async function storeCaughtUp(db: Database, { chainId, indexer }: IndexerId): Promise<void> {
  await sql`
    update ops.indexer set caught_up_at = now()
    where chain_id = ${chainId} and name = ${indexer} and caught_up_at is null`.execute(db);
}

/** Whether an indexer has followed new blocks; from then on what it indexes is served. */
export async function hasCaughtUp(db: Database, { chainId, indexer }: IndexerId): Promise<boolean> {
  const { rows } = await sql<{ hasCaughtUp: boolean }>`
    select caught_up_at is not null as "hasCaughtUp"
    from ops.indexer where chain_id = ${chainId} and name = ${indexer}`.execute(db);
  return rows[0]?.hasCaughtUp ?? false;
}

/** An indexer as operators and callers see it. */
export type IndexerState = {
  indexer: string;
  /** Protocols of its exchanges. */
  exchanges: string[];
  /** Collections whose transfers it indexes by name. */
  collections: number;
  state: "following" | "catching_up";
  /** Last block indexed; null before the first. */
  indexed: number | null;
  /** Of one that is catching up: blocks of the chain whose events the log may lack, and the seconds it will take. */
  remainingBlocks: number | null;
  remainingSeconds: number | null;
};

/** The indexers of a chain that are to run, the core one first. `head`: the chain's, if known. */
export async function readIndexerStates(
  db: Database,
  chainId: number,
  head: number | null,
): Promise<IndexerState[]> {
  const sources = (await readSources(db, chainId)).filter(({ removedBy }) => removedBy === null);
  const names = [...new Set([coreIndexer, ...sources.map(({ indexer }) => indexer)])];
  return await Promise.all(
    names.map(async (indexer) => {
      const [progress, blocks] = await Promise.all([
        readIndexerProgress(db, { chainId, indexer }),
        readIndexedBlocks(db, chainId, indexer),
      ]);
      const members = sources.filter((one) => one.indexer === indexer);
      const follows = indexer === coreIndexer || progress?.isCaughtUp === true;
      return {
        indexer,
        exchanges: members.flatMap(({ source, address }) => (address === null ? [source] : [])),
        collections: members.filter(({ address }) => address !== null).length,
        state: follows ? "following" : "catching_up",
        indexed: blocks?.indexed.number ?? null,
        ...(follows ? nothingRemains : remaining(progress, blocks?.indexed.number ?? null, head)),
      } as const;
    }),
  );
}

const nothingRemains = { remainingBlocks: null, remainingSeconds: null };

function remaining(progress: IndexerProgress | null, indexed: number | null, head: number | null) {
  if (progress === null || indexed === null || head === null || progress.recorded < 0) {
    return nothingRemains;
  }
  const { recorded, isRecorded, blocksPerSecond } = progress;
  const remainingBlocks = Math.max(0, head - (isRecorded ? indexed : recorded));
  const isMoving = blocksPerSecond !== null && blocksPerSecond > 0;
  const remainingSeconds = isMoving ? Math.ceil(remainingBlocks / blocksPerSecond) : null;
  return { remainingBlocks, remainingSeconds };
}
