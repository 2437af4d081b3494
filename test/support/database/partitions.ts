import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";
import { readPartitions } from "../../../projections/log/partitions/read-partitions.ts";

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

/** Makes the log, which has one partition, what it was before it had any. */
export async function undoPartitions(db: Database, size: number): Promise<void> {
  await db.transaction().execute(async (session) => {
    await sql
      .raw(`
      do $$
      declare
        own record;
      begin
        alter table log.fact detach partition log.fact_0;
        drop table log.fact;
        alter table log.fact_0 rename to fact;
        for own in
          select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
          where i.indrelid = 'log.fact'::regclass
        loop
          execute format('alter index log.%I rename to %I', own.name, regexp_replace(own.name, '_0$', ''));
        end loop;
        update log.head set partition_size = ${size}, partitions_end = null;
      end $$`)
      .execute(session);
  });
}
