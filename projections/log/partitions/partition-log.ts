import { sql } from "kysely";
import type { Database, Session } from "../../database.ts";
import { retryWhileLocked, withLockTimeout } from "./lock-timeout.ts";

/**
 * Makes `log.fact` a table that is partitioned by position: the table as it is becomes the first partition. Facts are
 * appended and read meanwhile; they wait for half a second at most, while it is tried to have the table alone. False: readers
 * had it all the time, and it is as before, to be tried again.
 */
export async function partitionLog(db: Database): Promise<boolean> {
  return await retryWhileLocked(async () => {
    if (await isPartitioned(db)) return true;
    await boundLog(db);
    // It reads the whole table once, beside appends and readers.
    await sql`alter table log.fact validate constraint fact_range`.execute(db);
    await withLockTimeout(db, run(swapTables));
    await sql`select log.analyze_facts()`.execute(db);
    return await isPartitioned(db);
  });
}

export async function isPartitioned(db: Database): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    select relkind = 'p' as is from pg_class where oid = 'log.fact'::regclass`.execute(db);
  return rows[0]?.is ?? false;
}

async function boundLog(db: Database): Promise<void> {
  const { rows } = await sql`
    select from pg_constraint where conrelid = 'log.fact'::regclass and conname = 'fact_range'`.execute(
    db,
  );
  if (rows.length === 0) await withLockTimeout(db, run(addBound));
}

const run = (body: string) => async (session: Session) => {
  await sql.raw(`do $alone$${body}$alone$`).execute(session);
};

/**
 * The first partition ends where the one of the next half partition's facts does. Until the tables are swapped no fact may
 * be behind it; should they reach it before, the append that does takes the bound away (`log.add_partitions`).
 */
const addBound = `
declare
  bound bigint;
begin
  select ((position + partition_size / 2) / partition_size + 1) * partition_size into strict bound
  from log.head for update;
  execute format('alter table log.fact add constraint fact_range check (position >= 0 and position < %s) not valid', bound);
  update log.head set partitions_end = bound;
end`;

/**
 * Names of indexes go to the partitioned ones; those of the table become their parts as they are. Grants and triggers go to
 * the new table as well. Appends hold the head's row, then the table: so it is taken in this order.
 */
const swapTables = `
declare
  bound bigint;
  indexes text[];
  triggers text[];
  one record;
  statement text;
begin
  select partitions_end into strict bound from log.head for update;
  lock table log.fact in access exclusive mode;
  if not exists (
    select from pg_constraint
    where conrelid = 'log.fact'::regclass and conname = 'fact_range' and convalidated
  ) then
    return;
  end if;
  select array_agg(pg_get_indexdef(i.indexrelid)) into indexes from pg_index i
  where i.indrelid = 'log.fact'::regclass and not i.indisunique;
  select coalesce(array_agg(pg_get_triggerdef(t.oid)), '{}') into triggers from pg_trigger t
  where t.tgrelid = 'log.fact'::regclass and not t.tgisinternal;
  for one in
    select t.tgname as name from pg_trigger t where t.tgrelid = 'log.fact'::regclass and not t.tgisinternal
  loop
    execute format('drop trigger %I on log.fact', one.name);
  end loop;
  for one in
    select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = 'log.fact'::regclass
  loop
    execute format('alter index log.%I rename to %I', one.name, one.name || '_0');
  end loop;
  alter table log.fact rename to fact_0;
  create table log.fact (like log.fact_0 including all excluding indexes excluding constraints)
    partition by range (position);
  alter table log.fact add constraint fact_pkey primary key (position) with (fillfactor = 100);
  foreach statement in array indexes loop
    execute statement;
  end loop;
  execute format('alter table log.fact attach partition log.fact_0 for values from (0) to (%s)', bound);
  alter table log.fact_0 drop constraint fact_range;
  foreach statement in array triggers loop
    execute statement;
  end loop;
  perform log.copy_grants('log.fact_0', 'log.fact');
end`;
