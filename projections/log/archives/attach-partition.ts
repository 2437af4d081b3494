import { sql } from "kysely";
import type { Database } from "../../database.ts";
import type { Partition } from "../partitions/read-partitions.ts";
import { makeReplacement, replacePartition } from "../partitions/replace-partition.ts";
import type { Archive } from "./archives.ts";
import { assertWhole, readArchivedFacts } from "./check-archive.ts";
import { digestFacts } from "./digest.ts";
import { forgetDetached } from "./leaving-facts.ts";
import { storeLines } from "./store-lines.ts";

/**
 * Brings a detached partition's facts back from its file, as they were: by the file's digest, that of the facts read from
 * it, and that of the table they were stored in. A kill leaves it detached, and the same call begins again.
 */
export async function attachPartition(
  db: Database,
  partition: Partition,
  archive: Archive,
): Promise<void> {
  await assertWhole(archive);
  const replacement = await db.transaction().execute(async (session) => {
    return await makeReplacement(session, partition, async (table) => {
      await storeLines(session, table, readArchivedFacts(archive));
      const { digest } = await digestFacts(session, table, partition);
      if (digest !== archive.digest)
        throw new Error(`${archive.file} was stored with other facts: nothing was attached`);
    });
  });
  const isDone = await replacePartition(db, replacement, async (session) => {
    await sql`delete from log.detached_range where first_position = ${partition.first}`.execute(
      session,
    );
    await sql`
      update log.archive set detached_at = null where first_position = ${partition.first}`.execute(
      session,
    );
  });
  if (!isDone)
    throw new Error(
      "the log stayed in use by other transactions: nothing was attached; run it again",
    );
  await forgetDetached(db, partition.first);
}
