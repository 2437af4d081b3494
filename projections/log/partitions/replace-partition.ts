import { type RawBuilder, sql } from "kysely";
import type { Database, Session } from "../../database.ts";
import { retryWhileLocked, withLockTimeout } from "./lock-timeout.ts";
import type { Partition } from "./read-partitions.ts";

type Bounds = Pick<Partition, "table" | "first" | "last">;

/** A table that may take the place of a partition, with the transaction that made it. */
export type Replacement = { readonly partition: Bounds; readonly madeBy: string };

/**
 * Makes a table with a partition's columns, bounds, indexes and rights, for `fill` to insert facts into. In the session's
 * transaction, which is to be committed before the table takes the partition's place.
 */
export async function makeReplacement(
  session: Session,
  partition: Bounds,
  fill: (table: RawBuilder<unknown>) => Promise<void>,
): Promise<Replacement> {
  const { first, last } = partition;
  const name = nextOf(partition);
  const table = sql.table(name);
  await sql`drop table if exists ${table}`.execute(session);
  await sql`
    create table ${table} (like log.fact including all excluding indexes,
      constraint fact_range check (position >= ${sql.lit(first)} and position <= ${sql.lit(last)}))`.execute(
    session,
  );
  await fill(table);
  for (const { create, attach } of await readIndexes(session, partition)) {
    await sql.raw(create).execute(session);
    if (attach !== null) await sql.raw(attach).execute(session);
  }
  await sql`select log.copy_grants('log.fact', ${name}::regclass)`.execute(session);
  await sql`analyze ${table}`.execute(session);
  const { rows } = await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(
    session,
  );
  return { partition, madeBy: rows[0]?.id ?? "" };
}

/**
 * Puts a table in the place of its partition, which is dropped, together with what `note` writes; throws what that throws.
 * It waits until no transaction is left that does not see the table's facts, and until nobody reads the log, for half a
 * second at a time. False: that did not happen, and all is as before.
 */
export async function replacePartition(
  db: Database,
  replacement: Replacement,
  note: (session: Session) => Promise<void>,
): Promise<boolean> {
  return await retryWhileLocked(async () => {
    if (await hasOlderSnapshot(db, replacement)) return false;
    await withLockTimeout(db, async (session) => {
      // Appends hold the head's row, then the table: so it is taken in this order. It is written, so that no cached answer of before is given.
      await sql`update log.head set position = position`.execute(session);
      await sql`lock table log.fact in access exclusive mode`.execute(session);
      await note(session);
      await swap(session, replacement.partition);
    });
    return true;
  });
}

async function swap(session: Session, partition: Bounds): Promise<void> {
  const { first, last } = partition;
  const old = sql.table(partition.table);
  const table = sql.table(nextOf(partition));
  const indexes = await readIndexes(session, partition);
  await sql`alter table log.fact detach partition ${old}`.execute(session);
  await sql`drop table ${old}`.execute(session);
  await sql`alter table ${table} rename to ${sql.id(bareName(partition))}`.execute(session);
  await sql`
    alter table log.fact attach partition ${old} for values from (${sql.lit(first)}) to (${sql.lit(last + 1n)})`.execute(
    session,
  );
  await sql`alter table ${old} drop constraint fact_range`.execute(session);
  for (const { name } of indexes) {
    await sql`alter index ${sql.id("log", `${name}_next`)} rename to ${sql.id(name)}`.execute(
      session,
    );
  }
}

/**
 * A transaction with a snapshot from before the table's facts would find the partition empty. What standbys with
 * `hot_standby_feedback` report is a sender's, which has no database, or their slot's.
 */
async function hasOlderSnapshot(db: Database, { madeBy }: Replacement): Promise<boolean> {
  const { rows } = await sql`
    select from (
      select backend_xmin as oldest from pg_stat_activity
      where (datname is null or datname = current_database())
        and backend_type is distinct from 'autovacuum worker'
      union all
      select xmin from pg_replication_slots
    ) holder
    where age(oldest) >= age(${madeBy}::xid8::xid)
    limit 1`.execute(db);
  return rows.length > 0;
}

const bareName = ({ table }: Bounds) => table.replace(/^log\./, "");
const nextOf = ({ table }: Bounds) => `${table}_next`;

type Index = { readonly name: string; readonly create: string; readonly attach: string | null };

/** The partition's indexes, and how those of the table that replaces it are created. */
async function readIndexes(session: Session, partition: Bounds): Promise<Index[]> {
  const { rows } = await sql<Index>`
    select c.relname as name,
           regexp_replace(pg_get_indexdef(i.indexrelid), ' INDEX \\S+ ON \\S+ ',
                          format(' INDEX %I ON log.%I ', c.relname || '_next', p.relname || '_next')) as create,
           case when i.indisprimary then
             format('alter table log.%I add primary key using index %I', p.relname || '_next', c.relname || '_next')
           end as attach
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class p on p.oid = i.indrelid
    where i.indrelid = ${partition.table}::regclass order by c.relname`.execute(session);
  return rows;
}
