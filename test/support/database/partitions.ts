import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { readPartitions } from "#projections/log/schema.ts";

/** Gives an empty log partitions of another size. */
export async function repartition(db: Database, size: number): Promise<void> {
  await db.transaction().execute(async (session) => {
    for (const { table } of await readPartitions(session)) {
      await sql`drop table ${sql.table(table)}`.execute(session);
    }
    await sql`
      update log.head set position = 0, partition_size = ${size}, partitions_end = 0`.execute(
      session,
    );
    await sql`select log.add_partitions(0)`.execute(session);
  });
}
