import { sql } from "kysely";
import { archivePartition } from "../../api/run/archives/archive-partition.ts";
import type { Database } from "../../projections/database.ts";
import { readCheckpoints } from "../../projections/engine/checkpoint.ts";
import { readDetached } from "../../projections/log/archives/archives.ts";
import { attachPartition } from "../../projections/log/archives/attach-partition.ts";
import { detachPartition } from "../../projections/log/archives/detach-partition.ts";
import {
  type Partition,
  readPartitions,
} from "../../projections/log/partitions/read-partitions.ts";
import { readLogHead } from "../../projections/log/read-log-head.ts";
import { type Coverage, countEvent } from "./coverage.ts";
import type { Random } from "./random.ts";
import type { Step } from "./script.ts";
import type { Store } from "./store.ts";

type Detach = { readonly random: Random; readonly coverage: Coverage };

/**
 * Archives and detaches some of the partitions that are final: which all projections have passed, and whose heights no later
 * step changes, nor gives events that the log lacks.
 */
export async function detachSome(
  { db, archives }: Store,
  later: readonly Step[],
  { random, coverage }: Detach,
): Promise<void> {
  if (archives === null) return;
  const head = await readLogHead(db);
  const positions = [...(await readCheckpoints(db)).values()].map(({ position }) => position);
  const passed = positions.reduce((least, one) => (one < least ? one : least), head);
  const detached = new Set((await readDetached(db)).map(({ first }) => first));
  const moving = await readMovingHeights(db, later);
  for (const partition of await readPartitions(db)) {
    if (partition.last >= head || partition.last > passed || detached.has(partition.first))
      continue;
    if (random.chance(0.1) || (await isMoving(db, partition, moving))) continue;
    const archive = await archivePartition(db, partition, archives);
    const { left } = await detachPartition(db, partition, archive);
    countEvent(coverage, "partitions detached");
    countEvent(coverage, "facts detached", Number(left));
  }
}

export async function attachAll({ db }: Store, coverage: Coverage): Promise<void> {
  const partitions = await readPartitions(db);
  for (const archive of await readDetached(db)) {
    const partition = partitions.find(({ first }) => first === archive.first);
    if (partition !== undefined) await attachPartition(db, partition, archive);
    countEvent(coverage, "partitions attached");
  }
}

/** Heights, as block ids without forks, at which steps change a block's state or append what the log lacks. */
async function readMovingHeights(db: Database, later: readonly Step[]): Promise<bigint[]> {
  const retracted = await readHashes(
    db,
    sql`select hash from log.block where block_id in (select block_id from log.retracted_blocks((select position from log.head)))`,
  );
  const held = await readHashes(
    db,
    sql`select b.hash || int4send(f.log_index) || int4send(f.sub_index) as hash
        from log.fact f join log.block b using (block_id) where f.log_index is not null
        union all
        select b.hash || int4send(e.log_index) || int4send(coalesce(r.sub_indexes[e.ord], 0))
        from log.detached_block r join log.block b using (block_id)
        cross join lateral unnest(r.log_indexes) with ordinality e (log_index, ord)`,
  );
  const isLacking = (hash: string, logIndex: number, subIndex: number) =>
    !held.has(`${hash}${int4(logIndex)}${int4(subIndex)}`);
  return later.flatMap((step) => {
    if (step.does === "observe") return [];
    if (step.does === "append") {
      return step.events
        .filter(({ block, logIndex, subIndex }) => isLacking(block.hash, logIndex, subIndex ?? 0))
        .map(({ block }) => heightOf(block));
    }
    const isRetraction = step.does === "block_retracted";
    return step.blocks.filter(({ hash }) => retracted.has(hash) !== isRetraction).map(heightOf);
  });
}

const int4 = (number: number) => number.toString(16).padStart(8, "0");
const heightOf = ({ chainId, number }: { chainId: number; number: number }) =>
  (BigInt(chainId) << 32n) | BigInt(number);

async function readHashes(db: Database, rows: ReturnType<typeof sql>): Promise<Set<string>> {
  const found = await sql<{ hash: string }>`${rows}`.execute(db);
  return new Set(found.rows.map(({ hash }) => hash));
}

async function isMoving(
  db: Database,
  { table }: Partition,
  moving: readonly bigint[],
): Promise<boolean> {
  const { rows } = await sql`
    select from (
      select min(block_id) >> 12 as first, max(block_id) >> 12 as last
      from ${sql.table(table)} where log_index is not null group by block_id >> 44
    ) heights, unnest(${moving}::bigint[]) one (height)
    where one.height between heights.first and heights.last limit 1`.execute(db);
  return rows.length > 0;
}
