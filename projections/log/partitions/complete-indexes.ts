import { sql } from "kysely";
import type { Database } from "#projections/database.ts";
import { retryWhileLocked, withLockTimeout } from "./lock-timeout.ts";

/**
 * Builds what partitions lack of the indexes that migrations create `on only log.fact`, and puts each `<name>_next` in the
 * place of `<name>`. Facts are appended and read meanwhile; they wait for half a second at most. A build waits for transactions
 * that are older, and can be killed and repeated at any time. False: somebody held the log all the time, to be tried again.
 */
export async function completeIndexes(db: Database): Promise<boolean> {
  for (const missing of await readMissing(db))
    if (!(await retryWhileLocked(() => build(db, missing)))) return false;
  return await retryWhileLocked(() => replaceFormer(db));
}

/** Whether every partition has all indexes of the log, and no former one is left. */
export async function areIndexesComplete(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select from pg_index i join pg_class x on x.oid = i.indexrelid
    where i.indrelid = 'log.fact'::regclass and (not i.indisvalid or x.relname ~ '_next$')`.execute(
    db,
  );
  return rows.length === 0;
}

/** An index of the log, and the name and definition of its part that a partition lacks. */
type Missing = { readonly parent: string; readonly name: string; readonly create: string };

async function readMissing(db: Database): Promise<Missing[]> {
  const { rows } = await sql<Missing>`
    select x.relname as parent, part.name,
           regexp_replace(pg_get_indexdef(i.indexrelid), ' INDEX \\S+ ON ONLY \\S+ ',
                          format(' INDEX CONCURRENTLY %I ON log.%I ', part.name, p.relname)) as create
    from pg_index i join pg_class x on x.oid = i.indexrelid
    join pg_inherits h on h.inhparent = i.indrelid join pg_class p on p.oid = h.inhrelid
    cross join lateral (select regexp_replace(p.relname, '^fact', x.relname) as name) part
    where i.indrelid = 'log.fact'::regclass and not i.indisvalid and not exists (
      select from pg_index c join pg_inherits g on g.inhrelid = c.indexrelid
      where c.indrelid = p.oid and g.inhparent = i.indexrelid)
    order by p.oid, x.relname`.execute(db);
  return rows;
}

async function build(db: Database, { parent, name, create }: Missing): Promise<boolean> {
  const index = sql.id("log", name);
  if (!(await isBuilt(db, name))) {
    // What a build that was ended left behind.
    await sql`drop index concurrently if exists ${index}`.execute(db);
    await sql.raw(create).execute(db);
  }
  await withLockTimeout(db, async (session) => {
    await sql`alter index ${sql.id("log", parent)} attach partition ${index}`.execute(session);
  });
  return true;
}

async function isBuilt(db: Database, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_index where indexrelid = to_regclass(${`log.${name}`}) and indisvalid`.execute(
    db,
  );
  return rows.length > 0;
}

async function replaceFormer(db: Database): Promise<boolean> {
  if (await areIndexesComplete(db)) return true;
  await withLockTimeout(db, async (session) => {
    await sql.raw(`do $alone$${swapIndexes}$alone$`).execute(session);
  });
  return true;
}

/** Appends hold the head's row, then the table: so it is taken in this order. */
const swapIndexes = `
declare
  own record;
  part record;
begin
  perform from log.head for update;
  lock table log.fact in access exclusive mode;
  for own in
    select x.oid, x.relname as name, regexp_replace(x.relname, '_next$', '') as final
    from pg_index i join pg_class x on x.oid = i.indexrelid
    where i.indrelid = 'log.fact'::regclass and i.indisvalid and x.relname ~ '_next$'
  loop
    execute format('drop index if exists log.%I', own.final);
    execute format('alter index log.%I rename to %I', own.name, own.final);
    for part in
      select c.relname as name, regexp_replace(c.relname, '^' || own.name, own.final) as final
      from pg_inherits h join pg_class c on c.oid = h.inhrelid where h.inhparent = own.oid
    loop
      execute format('alter index log.%I rename to %I', part.name, part.final);
    end loop;
  end loop;
end`;
