import { sql } from "kysely";
import type { Database, Session } from "../../database.ts";
import type { Partition } from "../partitions/read-partitions.ts";
import { makeReplacement, replacePartition } from "../partitions/replace-partition.ts";
import { readLogHead } from "../read-log-head.ts";
import type { Archive } from "./archives.ts";
import { assertWhole } from "./check-archive.ts";
import { digestFacts } from "./digest.ts";
import { findBehind } from "./find-hindrances.ts";
import { leaving, noteLeaving, selectLeaving } from "./leaving-facts.ts";

/** Facts that left the database, and those that stayed. */
export type Detached = { readonly left: bigint; readonly kept: bigint };

/**
 * Takes the facts out of the database that nobody reads one by one, of a partition whose archive has them all. A smaller
 * table is filled beside it and takes its place in a short transaction: a kill before leaves all as it was, and the same call
 * begins again. Throws what hinders it: `DamagedArchive`, or others.
 */
export async function detachPartition(
  db: Database,
  partition: Partition,
  archive: Archive,
): Promise<Detached> {
  const table = sql.table(partition.table);
  await assertWhole(archive);
  const held = await digestFacts(db, table, partition);
  if (held.digest !== archive.digest || held.facts !== archive.facts)
    throw new Error(`${partition.table} has other facts than its archive: archive it again`);
  const { replacement, left, seen } = await db.transaction().execute(async (session) => {
    const seen = await readLogHead(session);
    await selectLeaving(session, partition);
    await noteLeaving(session, partition.first);
    const made = await makeReplacement(session, partition, async (next) => {
      await sql`
        insert into ${next} select f.* from ${table} f
        where not exists (select from ${leaving} l where l.position = f.position)
        order by f.position`.execute(session);
    });
    const { rows } = await sql<{ left: bigint }>`
      select count(*) as left from ${leaving}`.execute(session);
    return { replacement: made, left: rows[0]?.left ?? 0n, seen };
  });
  const isDone = await replacePartition(db, replacement, async (session) => {
    await assertUnhindered(session, partition, seen);
    await noteDetached(session, partition);
  });
  if (!isDone)
    throw new Error(
      "the log stayed in use by other transactions: nothing was detached; run it again",
    );
  return { left, kept: archive.facts - left };
}

/** What may have come since the facts were chosen. */
async function assertUnhindered(
  session: Session,
  { first, last }: Partition,
  seen: bigint,
): Promise<void> {
  const behind = await findBehind(session, last);
  if (behind.length > 0) throw new Error(behind.join("; "));
  const { rows } = await sql`
    select from log.fact f join log.detached_block r using (block_id)
    where f.position > ${seen} and r.first_position = ${first} limit 1`.execute(session);
  if (rows.length > 0) throw new Error("facts of its blocks were appended meanwhile: run it again");
}

/** From here on appends look for events of these blocks, with all forks of their heights, among the detached ones. */
async function noteDetached(session: Session, { table, first }: Partition): Promise<void> {
  await sql`
    insert into log.detached_range (first_position, chain_id, first_block_id, last_block_id)
    select ${first}, (block_id >> 44)::int, (min(block_id) >> 12) << 12, (((max(block_id) >> 12) + 1) << 12) - 1
    from ${sql.table(table)} where log_index is not null group by 2`.execute(session);
  await sql`
    update log.archive set detached_at = now() where first_position = ${first}`.execute(session);
}
