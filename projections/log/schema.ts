import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Chain } from "#chains/chain.ts";
import { chains } from "#chains/index.ts";
import type { Database, Session } from "./database.ts";
import { isLockHeld } from "./named-lock.ts";

/** In their order. The first one makes everything that `schema.sql` and `functions.sql` say. */
const migrationNames = [
  "0001-start",
  "0002-chain-ordinals",
  "0003-jobs",
  "0004-token-sets",
  "0005-webhooks",
  "0006-order-events",
  "0007-wallets",
  "0008-snapshots",
  "0009-store-staged",
  "0010-differing-blocks",
  "0011-request-log",
  "0012-passkeys",
] as const;

export type MigrationName = (typeof migrationNames)[number];

/** Names of the migrations that the database still lacks. Those of later releases, which it may have, are left alone. */
export async function lackingMigrations(db: Database): Promise<MigrationName[]> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('ops.migration') is not null as exists`.execute(db);
  if (rows[0]?.exists !== true) return [...migrationNames];
  const applied = await sql<{ name: string }>`select name from ops.migration`.execute(db);
  const names = new Set(applied.rows.map(({ name }) => name));
  return migrationNames.filter((name) => !names.has(name));
}

/** The same, and chains whose ordinals it does not store yet: what a start or `op migrate` does. Throws as `lackingChains`. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const names = await lackingMigrations(db);
  if (names.length > 0) return names;
  return (await lackingChains(db)).map(({ id }) => `chain-${id}`);
}

/** Chains whose ordinals are not stored. Throws where ids of stored blocks are made of other ordinals than the list's. */
export async function lackingChains(
  db: Database,
  list: readonly Chain[] = chains,
): Promise<Chain[]> {
  const { rows } = await sql<{ id: number; ordinal: number }>`
    select chain_id as id, ordinal from log.chain`.execute(db);
  for (const stored of rows) {
    const differing = list.find(
      ({ id, ordinal }) => (id === stored.id) !== (ordinal === stored.ordinal),
    );
    if (differing !== undefined)
      throw new Error(
        `chains/ gives chain ${differing.id} the ordinal ${differing.ordinal}, the database has ${stored.ordinal} for chain ${stored.id}: ordinals are permanent`,
      );
  }
  return list.filter(({ id }) => !rows.some((stored) => stored.id === id));
}

/** A partition of the log: positions from `first` up to `last`. */
type Partition = {
  table: string;
  first: bigint;
  last: bigint;
  /** By the server's statistics; null: there are none. */
  facts: bigint | null;
  /** With its indexes. */
  bytes: bigint;
};

/** The partitions of the log in the order of positions; none where it has not been moved to partitions. */
export async function readPartitions(db: Database): Promise<Partition[]> {
  const { rows } = await sql<Partition>`
    select format('%I.%I', n.nspname, c.relname) as table, bound.range[1]::bigint as first,
           bound.range[2]::bigint - 1 as last, nullif(c.reltuples, -1)::bigint as facts,
           pg_total_relation_size(c.oid) as bytes
    from pg_inherits h join pg_class c on c.oid = h.inhrelid join pg_namespace n on n.oid = c.relnamespace
    cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), $$FROM [(]'([0-9]+)'[)] TO [(]'([0-9]+)'[)]$$) bound (range)
    where h.inhparent = 'log.fact'::regclass
    order by first`.execute(db);
  return rows;
}

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

/** Below the server's own second for deadlocks, so that nobody else's statement fails for this one. */
const LOCK_TIMEOUT_MS = 500;
const PAUSE_MS = 1_000;
const TRIES = 10;

/** Does work in a transaction that waits for locks for half a second at most: others wait for those behind it. */
async function withLockTimeout<Result>(
  db: Database,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  return await db.transaction().execute(async (session) => {
    await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(session);
    return await work(session);
  });
}

/** Tries work until nobody holds what it needs. False: somebody did all the time. */
async function retryWhileLocked(work: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      if (await work()) return true;
    } catch (error) {
      if (!isLockHeld(error)) throw error;
    }
    await delay(PAUSE_MS);
  }
  return false;
}
