import { sql } from "kysely";
import type { Database } from "../database.ts";
import { firstBlockId } from "./block-id.ts";
import { isFact } from "./ponder-events.ts";
import { blockNumberIn } from "./ponder-id.ts";
import { logHead } from "./read-log-head.ts";
import type { PonderBlock, RecordedBlock } from "./reconcile.ts";

/** How far Ponder and the recorder are on a chain. Event ids are Ponder's, sortable text. */
export type RecorderProgress = {
  schema: string;
  /** Ponder takes nothing back up to this id. */
  finalizedId: string;
  /** The log holds all that this schema has up to this id. */
  settledId: string;
  /** Height up to which blocks were settled under any schema: they are not suspected again. */
  settledNumber: bigint;
};

/** The Ponder schema that indexes a chain; null before its first start. */
export async function readPonderSchema(db: Database, chainId: number): Promise<string | null> {
  const { rows } = await sql<{ schema: string }>`
    select ponder_schema as schema from ops.indexer where chain_id = ${chainId}`.execute(db);
  return rows[0]?.schema ?? null;
}

/** Null while Ponder has no tables or no checkpoint for the chain. */
export async function readRecorderProgress(
  db: Database,
  chainId: number,
): Promise<RecorderProgress | null> {
  const schema = await readPonderSchema(db, chainId);
  if (schema === null || !(await hasTables(db, schema))) return null;

  const standing = await sql<{ finalized: string; settled: string | null; number: bigint | null }>`
    select c.finalized_checkpoint as finalized,
           (select r.settled_id from ops.recorder r
            where r.chain_id = ${chainId} and r.ponder_schema = ${schema}) as settled,
           (select max(${blockNumberIn("r.settled_id")}) from ops.recorder r
            where r.chain_id = ${chainId}) as number
    from ${sql.table(`${schema}._ponder_checkpoint`)} c
    where c.chain_id = ${chainId}`.execute(db);
  const row = standing.rows[0];
  if (row === undefined) return null;
  return {
    schema,
    finalizedId: row.finalized,
    settledId: row.settled ?? "",
    settledNumber: row.number ?? -1n,
  };
}

async function hasTables(db: Database, schema: string): Promise<boolean> {
  const { rows } = await sql<{ tables: bigint }>`
    select count(*) as tables from information_schema.tables
    where table_schema = ${schema} and table_name in ('_ponder_checkpoint', 'event')`.execute(db);
  return rows[0]?.tables === 2n;
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

/** Ponder's blocks that hold events with ids in (after, upTo]; no end when `upTo` is null. */
export async function readPonderBlocks(
  db: Database,
  schema: string,
  after: string,
  upTo: string | null,
): Promise<PonderBlock[]> {
  const { rows } = await sql<{ number: bigint; hash: string; events: bigint }>`
    select block_number as number, block_hash as hash, count(*) filter (where ${isFact}) as events
    from ${sql.table(`${schema}.event`)}
    where id > ${after} ${upTo === null ? sql`` : sql`and id <= ${upTo}`}
    group by block_number, block_hash`.execute(db);
  return rows.map(({ number, hash, events }) => ({ number, hash, events: Number(events) }));
}

/** The log's blocks of a chain at heights in (after, upTo] that hold chain events or are retracted. */
export async function readRecordedBlocks(
  db: Database,
  chainId: number,
  after: bigint,
  upTo: bigint | null,
): Promise<RecordedBlock[]> {
  const from = firstBlockId(chainId, after + 1n);
  const to = upTo === null ? firstBlockId(chainId + 1, 0n) : firstBlockId(chainId, upTo + 1n);
  const { rows } = await sql<RecordedBlock & { events: bigint }>`
    with retracted as (select block_id from log.retracted_blocks(${logHead}))
    select b.block_id as "blockId", b.number, b.hash, coalesce(counted.events, 0) as events,
           b.block_id in (select block_id from retracted) as "isRetracted"
    from (
      select f.block_id, count(*) filter (where f.sub_index = 0) as events
      from log.fact f
      where f.block_id >= ${from} and f.block_id < ${to} and f.log_index is not null
      group by f.block_id
    ) counted
    full join (select block_id from retracted where block_id >= ${from} and block_id < ${to}) gone using (block_id)
    join log.block b using (block_id)`.execute(db);
  return rows.map((row) => ({ ...row, events: Number(row.events) }));
}
