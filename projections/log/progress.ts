import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { blockIdRange, firstBlockId, logHead } from "./blocks.ts";
import type { Database } from "./database.ts";
import { kindLiteral } from "./fact-kinds.ts";
import { blockNumberOfId, isFact, timestampOf } from "./recording/ponder-events.ts";
import { coreIndexer, type IndexerId, readSources } from "./sources.ts";
import { projectionIn, schemaOf, versions } from "./versions.ts";

/** The schemas of this release's tables, and those that rebuilds are made in. */
const followed = Object.keys(versions).flatMap((name) => [
  schemaOf(name),
  `${schemaOf(name)}_next`,
]);

/** How far a projection has read. */
export type ProjectionProgress = {
  projection: string;
  version: number;
  position: bigint;
  head: bigint;
};

/** Of this release's versions, and of rebuilds of them: other checkpoints stand still, or are another release's. */
export async function readProjectionProgress(db: Database): Promise<ProjectionProgress[]> {
  const { rows } = await sql<ProjectionProgress>`
    select c.projection, c.version, c.position, h.position as head
    from engine.checkpoint c cross join log.head h
    where c.projection = any (${followed}::text[])
    order by c.projection`.execute(db);
  return rows.map((row) => ({ ...row, projection: projectionIn(row.projection) }));
}

/** Whether every projection has applied all but this many facts of the log. */
export async function hasProjectionsWithin(db: Database, facts: number): Promise<boolean> {
  const { rows } = await sql<{ within: boolean }>`
    select h.position - coalesce(min(c.position), 0) <= ${facts} as within
    from log.head h left join engine.checkpoint c on c.projection = any (${followed}::text[])
    group by h.position`.execute(db);
  return rows[0]?.within ?? true;
}

/** How far an indexer is on a chain. Times are unix seconds. */
export type IndexedBlocks = {
  indexed: { number: number; timestamp: number };
  finalized: { number: number };
};

/** Null while the indexer has no tables or no checkpoint for the chain. */
export async function readIndexedBlocks(
  db: Database,
  chainId: number,
  name: string = coreIndexer,
): Promise<IndexedBlocks | null> {
  const { rows } = await sql<{ schema: string; exists: boolean }>`
    select ponder_schema as schema,
           to_regclass(format('%I._ponder_checkpoint', ponder_schema)) is not null as exists
    from ops.indexer where chain_id = ${chainId} and name = ${name}`.execute(db);
  const indexer = rows[0];
  if (indexer === undefined || !indexer.exists) return null;
  return await readSchemaBlocks(db, indexer.schema, chainId);
}

/** The same of one of Ponder's schemas, which must have its tables. Null before its first checkpoint. */
async function readSchemaBlocks(
  db: Database,
  schema: string,
  chainId: number,
): Promise<IndexedBlocks | null> {
  const checkpoints = await sql<{ latest: string; finalized: string }>`
    select latest_checkpoint as latest, finalized_checkpoint as finalized
    from ${sql.id(schema, "_ponder_checkpoint")} where chain_id = ${chainId}`.execute(db);
  const row = checkpoints.rows[0];
  if (row === undefined) return null;
  return { indexed: blockOf(row.latest), finalized: blockOf(row.finalized) };
}

/** The last block that Ponder has indexed into a schema; null before the first. */
export async function readIndexedBlock(
  db: Database,
  schema: string,
  chainId: number,
): Promise<number | null> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass(format('%I._ponder_checkpoint', ${schema}::text)) is not null as exists`.execute(
    db,
  );
  if (!rows[0]?.exists) return null;
  return (await readSchemaBlocks(db, schema, chainId))?.indexed.number ?? null;
}

function blockOf(checkpoint: string): { number: number; timestamp: number } {
  return { number: Number(blockNumberOfId(checkpoint)), timestamp: timestampOf(checkpoint) };
}

export type RecordedHead = {
  /** Hash of the block of that height that counts; null when the log holds no fact of it. */
  hash: Hex | null;
  /** The highest block with events that count: what a job read at a newer one says nothing of the branch that is indexed. */
  recorded: { number: number; hash: Hex } | null;
};

export async function readRecordedHead(
  db: Database,
  chainId: number,
  height: number,
): Promise<RecordedHead> {
  const chain = blockIdRange(chainId);
  const from = firstBlockId(chainId, BigInt(height));
  const to = firstBlockId(chainId, BigInt(height) + 1n);
  const counting = (blockId: RawBuilder<unknown>) => sql`${blockId} not in (
    select d.block_id from log.retracted_blocks(${logHead}) d)`;
  const { rows } = await sql<{ hash: Hex | null; number: bigint | null; recordedHash: Hex | null }>`
    select at_height.hash, highest.number, highest.hash as "recordedHash"
    from (select) one
    left join lateral (
      select b.hash from log.block b
      where b.block_id >= ${from} and b.block_id < ${to} and ${counting(sql`b.block_id`)}
      order by b.block_id desc limit 1
    ) at_height on true
    left join lateral (
      select b.number, b.hash
      from (
        select f.block_id from log.fact f
        where f.log_index is not null and f.block_id >= ${chain.from} and f.block_id < ${chain.to}
          and ${counting(sql`f.block_id`)}
        order by f.block_id desc limit 1
      ) newest join log.block b using (block_id)
    ) highest on true`.execute(db);
  const row = rows[0];
  const known = row !== undefined && row.number !== null && row.recordedHash !== null;
  return {
    hash: row?.hash ?? null,
    recorded: known ? { number: Number(row.number), hash: row.recordedHash as Hex } : null,
  };
}

export type NewestEvent = { number: number; isRecorded: boolean };

/** The newest event that the first indexer holds of a chain, and whether the log has it; null when there is none. */
export async function readNewestEvent(db: Database, chainId: number): Promise<NewestEvent | null> {
  const { rows } = await sql<{ schema: string; exists: boolean }>`
    select ponder_schema as schema, to_regclass(format('%I.event', ponder_schema)) is not null as exists
    from ops.indexer where chain_id = ${chainId} and name = ${coreIndexer}`.execute(db);
  const indexer = rows[0];
  if (indexer === undefined || !indexer.exists) return null;
  const newest = await sql<{ number: bigint; isRecorded: boolean }>`
    select e.block_number as number, exists (
      select from log.block b join log.fact f using (block_id)
      where b.chain_id = ${chainId} and b.hash = decode(substr(e.block_hash, 3), 'hex')
        and f.log_index = e.log_index
    ) as "isRecorded"
    from (
      select block_number, block_hash, log_index from ${sql.id(indexer.schema, "event")}
      where chain_id = ${chainId} and ${isFact} order by id desc limit 1
    ) e`.execute(db);
  const row = newest.rows[0];
  return row === undefined ? null : { number: Number(row.number), isRecorded: row.isRecorded };
}

/** Whether a time is in the log, by which periods of figures begin, or no process was ever there to append one. */
export async function readHasClock(db: Database): Promise<boolean> {
  const { rows } = await sql<{ hasClock: boolean }>`
    select exists (select from log.fact where kind = ${kindLiteral("clock_ticked")})
           or not exists (select from ops.lease where role = 'jobs') as "hasClock"`.execute(db);
  return rows[0]?.hasClock === true;
}

/** Roles that some process has worked in, and for how long nobody has, by the clock of the database. */
export async function readIdleRoles(db: Database): Promise<{ role: string; seconds: number }[]> {
  const { rows } = await sql<{ role: string; seconds: number }>`
    select role, extract(epoch from clock_timestamp() - expires_at)::float8 as seconds from ops.lease
    where expires_at < clock_timestamp() order by role`.execute(db);
  return rows;
}

/** How far an indexer and its recorder are. */
type IndexerProgress = {
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
    recorded: settled === null ? -1 : Number(blockNumberOfId(settled)),
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
