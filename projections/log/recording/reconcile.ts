import { type RawBuilder, sql } from "kysely";
import { blockIdRange, firstBlockId, logHead } from "../blocks.ts";
import type { Database } from "../database.ts";
import type { IndexerId } from "../sources.ts";
import { blockNumberIn, isFact } from "./ponder-events.ts";

/** Fetches the hash of the chain\'s block at each height; null where it has none yet. Throws when the chain cannot be reached. */
export type CanonicalHashes = (numbers: readonly bigint[]) => Promise<Map<bigint, string | null>>;

export type PonderBlock = { number: bigint; hash: string; events: number };

/** A block of the log. `isRetracted`: its facts are not effective. */
export type RecordedBlock = PonderBlock & { blockId: bigint; isRetracted: boolean };

export type Plan = {
  retract: bigint[];
  readopt: bigint[];
  /** Hashes of blocks with events that the log lacks. */
  append: string[];
  /** Blocks held back until Ponder and the chain agree. */
  held: number;
};

/**
 * Compares an indexer's blocks of a range with the log's: those of which the log holds its events, and all at the heights
 * of its blocks, which other indexers may have recorded from another branch. A block missing in Ponder is only suspected: Ponder also deletes
 * rows after a crash or behind a lagging node. The chain's answer retracts and readopts, and while it contradicts Ponder
 * nothing at the disputed heights is appended, so that two branches are never effective at once.
 */
export async function reconcile(
  inPonder: readonly PonderBlock[],
  inLog: readonly RecordedBlock[],
  canonicalHashes: CanonicalHashes,
): Promise<Plan> {
  const ponder = new Map(inPonder.map((block) => [block.hash, block]));
  const log = new Map(inLog.map((block) => [block.hash, block]));
  const suspects = inLog.filter((block) => !block.isRetracted && !ponder.has(block.hash));
  const returning = inLog.filter((block) => block.isRetracted && ponder.has(block.hash));
  const unseen = inPonder.filter((block) => block.events > (log.get(block.hash)?.events ?? 0));

  if (suspects.length + returning.length === 0) {
    return { retract: [], readopt: [], append: unseen.map(({ hash }) => hash), held: 0 };
  }
  const disputed = [...suspects, ...returning, ...unseen];
  const canonical = await canonicalHashes([...new Set(disputed.map(({ number }) => number))]);
  const isCanonical = ({ number, hash }: PonderBlock) => canonical.get(number) === hash;

  const retract = orphans(suspects, canonical);
  const unresolved = suspects.filter((block) => !retract.includes(block) && !isCanonical(block));
  const readopt = returning.filter(isCanonical);
  // Facts of a retracted block are not effective; they are appended in case it is readopted.
  const isKnownRetracted = ({ hash }: PonderBlock) => log.get(hash)?.isRetracted === true;
  const append =
    unresolved.length > 0
      ? []
      : unseen.filter((block) => isCanonical(block) || isKnownRetracted(block));
  const undecided = returning.filter(({ number }) => (canonical.get(number) ?? null) === null);
  return {
    retract: retract.map(({ blockId }) => blockId),
    readopt: readopt.map(({ blockId }) => blockId),
    append: append.map(({ hash }) => hash),
    held: unseen.length - append.length + unresolved.length + undecided.length,
  };
}

/** Suspects whose height the chain gave to another block, and those above one of these where it has no block yet. */
export function orphans(
  suspects: readonly RecordedBlock[],
  canonical: ReadonlyMap<bigint, string | null>,
): RecordedBlock[] {
  const replaced = suspects.filter(({ number, hash }) => {
    const other = canonical.get(number) ?? null;
    return other !== null && other !== hash;
  });
  const fork = replaced.reduce<bigint | null>(
    (lowest, { number }) => (lowest === null || number < lowest ? number : lowest),
    null,
  );
  if (fork === null) return [];
  return suspects.filter(
    (block) =>
      replaced.includes(block) ||
      (block.number > fork && (canonical.get(block.number) ?? null) === null),
  );
}

/** How far Ponder and the recorder are with an indexer. Event ids are Ponder's, sortable text. */
export type RecorderProgress = {
  schema: string;
  /** Ponder takes nothing back up to this id. */
  finalizedId: string;
  /** The log holds all that this schema has up to this id. */
  settledId: string;
  /** Height up to which the indexer's blocks were settled under any schema: they are not suspected again. */
  settledNumber: bigint;
  /** Sources of it are removed: their events are not recorded. */
  hasRemoved: boolean;
};

type PonderSchema = { schema: string; hasTables: boolean };

/** The Ponder schema of an indexer; null before its first start. */
export async function readPonderSchema(
  db: Database,
  { chainId, indexer }: IndexerId,
): Promise<PonderSchema | null> {
  const { rows } = await sql<PonderSchema>`
    select ponder_schema as schema,
           to_regclass(format('%I._ponder_checkpoint', ponder_schema)) is not null
             and to_regclass(format('%I.event', ponder_schema)) is not null as "hasTables"
    from ops.indexer where chain_id = ${chainId} and name = ${indexer}`.execute(db);
  return rows[0] ?? null;
}

/** Null while Ponder has no checkpoint for the indexer in the schema, which has tables. */
export async function readRecorderProgress(
  db: Database,
  { chainId, indexer }: IndexerId,
  schema: string,
): Promise<RecorderProgress | null> {
  const standing = await sql<{
    finalized: string;
    settled: string | null;
    number: bigint | null;
    hasRemoved: boolean;
  }>`
    select c.finalized_checkpoint as finalized,
           (select r.settled_id from ops.recorder r
            where r.chain_id = ${chainId} and r.ponder_schema = ${schema}) as settled,
           (select max(${blockNumberIn("r.settled_id")}) from ops.recorder r
            where r.chain_id = ${chainId} and r.indexer = ${indexer}) as number,
           exists (select from ops.source s
            where s.chain_id = ${chainId} and ${isUnrecordedBy(indexer)}) as "hasRemoved"
    from ${sql.table(`${schema}._ponder_checkpoint`)} c
    where c.chain_id = ${chainId}`.execute(db);
  const row = standing.rows[0];
  if (row === undefined) return null;
  return {
    schema,
    finalizedId: row.finalized,
    settledId: row.settled ?? "",
    settledNumber: row.number ?? -1n,
    hasRemoved: row.hasRemoved,
  };
}

/** Condition on `ops.source s`: an indexer's Ponder has its events, and they are not recorded from there. */
const isUnrecordedBy = (indexer: string) => sql`(
  (s.indexer = ${indexer} and s.removed_at is not null) or s.left_indexer = ${indexer})`;

/** Condition on Ponder's table `event`: its source is not removed from the indexer. */
export function isRecorded(
  { chainId, indexer }: IndexerId,
  { hasRemoved }: Pick<RecorderProgress, "hasRemoved">,
): RawBuilder<boolean> {
  if (!hasRemoved) return sql<boolean>`true`;
  return sql<boolean>`not exists (
    select from ops.source s
    where s.chain_id = ${chainId} and ${isUnrecordedBy(indexer)}
      and event.source = any (s.event_sources) and (s.address is null or s.address = event.address))`;
}

/** The id that ends a chunk of Ponder's finalized events, at most `events` of them. */
export async function readChunkEnd(
  db: Database,
  { schema, settledId, finalizedId }: RecorderProgress,
  events: number,
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(`${schema}.event`)}
    where id > ${settledId} and id <= ${finalizedId} order by id offset ${events - 1} limit 1`.execute(
    db,
  );
  return rows[0]?.id ?? finalizedId;
}

/** The id of the last event that is not settled and in a block below another's; there is one. */
export async function readLastIdBelow(
  db: Database,
  { schema, settledId }: RecorderProgress,
  { id, blockNumber }: { id: string; blockNumber: bigint },
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(`${schema}.event`)}
    where id > ${settledId} and id < ${id} and block_number < ${blockNumber}
    order by id desc limit 1`.execute(db);
  return rows[0]?.id ?? settledId;
}

/** `holdsSources`: events of the sources that were asked for. */
export type ReadBlock = PonderBlock & { holdsSources: boolean };

/** Ponder's blocks that hold recorded events with ids in (after, upTo], and which of them hold events of some sources. */
export async function readPonderBlocks(
  db: Database,
  id: IndexerId,
  progress: RecorderProgress,
  { upTo, sources }: { upTo: string; sources: readonly string[] },
): Promise<ReadBlock[]> {
  const { rows } = await sql<Omit<ReadBlock, "events"> & { events: bigint }>`
    select block_number as number, block_hash as hash, count(*) filter (where ${isFact}) as events,
           bool_or(source = any (${sources}::text[])) as "holdsSources"
    from ${sql.table(`${progress.schema}.event`)} event
    where id > ${progress.settledId} and id <= ${upTo} and ${isRecorded(id, progress)}
    group by block_number, block_hash`.execute(db);
  return rows.map((row) => ({ ...row, events: Number(row.events) }));
}

/**
 * The log's blocks that an indexer's blocks are compared with: those at heights in (after, upTo] of which the log holds
 * its events, with the number of these, and all others at the heights of its blocks.
 */
export async function readRecordedBlocks(
  db: Database,
  { chainId, indexer }: IndexerId,
  inPonder: readonly PonderBlock[],
  { after, upTo }: { after: bigint; upTo: bigint | null },
): Promise<RecordedBlock[]> {
  const from = firstBlockId(chainId, after + 1n);
  const to = upTo === null ? blockIdRange(chainId).to : firstBlockId(chainId, upTo + 1n);
  const heights = [...new Set(inPonder.map(({ number }) => number))];
  const { rows } = await sql<RecordedBlock & { events: bigint }>`
    with retracted as materialized (select block_id from log.retracted_blocks(${logHead})),
    own as (
      select block_id, events from ops.recorded_block
      where chain_id = ${chainId} and indexer = ${indexer} and block_id >= ${from} and block_id < ${to}
    )
    select b.block_id as "blockId", b.number, b.hash, coalesce(own.events, 0) as events,
           b.block_id in (select block_id from retracted) as "isRetracted"
    from (
      select block_id from own
      union
      select other.block_id
      from unnest(${heights.map((number) => firstBlockId(chainId, number))}::bigint[]) height (block_id)
      join log.block other on other.block_id >= height.block_id and other.block_id < height.block_id + (1 << 12)
    ) compared
    join log.block b using (block_id) left join own using (block_id)`.execute(db);
  return rows.map((row) => ({ ...row, events: Number(row.events) }));
}

/** Effective blocks of the log above a height that no indexer of the chain holds for final. */
export async function readBlocksAbove(
  db: Database,
  chainId: number,
  number: bigint,
): Promise<RecordedBlock[]> {
  const { rows } = await sql<Omit<RecordedBlock, "events" | "isRetracted">>`
    select b.block_id as "blockId", b.number, b.hash from log.block b
    where b.block_id >= ${firstBlockId(chainId, number + 1n)} and b.block_id < ${blockIdRange(chainId).to}
      and b.number > coalesce(
        (select max(${blockNumberIn("r.settled_id")}) from ops.recorder r where r.chain_id = ${chainId}), -1)
      and not exists (select from log.retracted_blocks(${logHead}) d where d.block_id = b.block_id)`.execute(
    db,
  );
  return rows.map((row) => ({ ...row, events: 0, isRetracted: false }));
}
