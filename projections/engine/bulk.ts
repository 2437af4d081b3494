import { CompiledQuery, sql } from "kysely";
import type { Database, Session } from "../log/database.ts";
import { isConflict } from "../log/database-failure.ts";
import { readLogHead } from "../log/blocks.ts";
import { type BulkProgress, createBulkProgress, describeBulkProgress, dropBulkProgress, type Index, indexStep, readBulkProgress, stepNames, storeBulkProgress, storeIndexDone } from "./bulk-progress.ts";
import { createCheckpoint, createTables, reachablePosition, readCheckpoints, type Target } from "./checkpoint.ts";
import { withHistory } from "./fact-window.ts";
import { inSnapshot } from "./in-snapshot.ts";
import { areAligned } from "./positions.ts";
import type { Parts } from "./projection.ts";
import { factsToExclude } from "./quarantine/exclusions.ts";
import { readQuarantine } from "./quarantine/quarantine.ts";
import { runConcurrently } from "./run-concurrently.ts";

/** Memory for a sort or a hash of the session, and for building an index. */
const WORK_MEMORY = "128MB";
const INDEX_MEMORY = "256MB";

export type BulkOptions = {
  readonly limit?: bigint | undefined;
  /** Brings the tables that the target reads to one position: without it, they are expected to be at one. */
  readonly align?: (() => Promise<void>) | undefined;
};

/**
 * Creates a target's tables and derives them from the whole log at once, without windows, indexes last. Returns the
 * position reached: the log's head, `limit`, or the position of the tables that the target reads. Each step, each part
 * of a long one and each index is a transaction that also stores its progress: a killed derivation resumes after the last.
 */
export async function deriveInBulk(
  db: Database,
  target: Target,
  onProgress: (step: string) => void = () => {},
  { limit, align }: BulkOptions = {},
): Promise<bigint> {
  const stored = await readBulkProgress(db, target);
  if (stored !== null) onProgress(`resumed ${describeBulkProgress(stored)}`);
  let progress = stored ?? undefined;
  while (progress === undefined) {
    await align?.();
    progress = await inBulkSnapshot(db, (session) =>
      startBulk(session, target, onProgress, { limit, isExact: align !== undefined }),
    );
  }
  while (nextStep(target, progress) !== undefined) {
    const reached: BulkProgress = progress;
    progress = await inBulkSnapshot(db, (session) => runStep(session, target, reached, onProgress));
  }
  const { upTo, excluded, done, indexes } = progress;
  const missing = indexes.filter((index) => !done.includes(indexStep(index)));
  await runConcurrently(missing, (index) => createIndex(db, target, index, onProgress));
  await db.transaction().execute(async (session) => {
    for (const { attach } of indexes)
      if (attach) await session.getExecutor().executeQuery(CompiledQuery.raw(attach));
    await createCheckpoint(session, target, upTo, excluded);
    await dropBulkProgress(session, target);
  });
  return upTo;
}

/** Tries of a transaction that others' commits abort. */
const TRIES = 10;

async function inBulkSnapshot<Result>(
  db: Database,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await inSnapshot(db, async (session) => {
        await configureSession(session);
        return await work(session);
      });
    } catch (error) {
      if (tries === TRIES || !isConflict(error)) throw error;
    }
  }
}

/** Commits do not wait for the disk: the swap does, and with it all commits before. */
async function configureSession(session: Session): Promise<void> {
  await sql`select set_config('work_mem', ${WORK_MEMORY}, true),
                   set_config('maintenance_work_mem', ${INDEX_MEMORY}, true),
                   set_config('synchronous_commit', 'off', true)`.execute(session);
}

/**
 * The position is that of the snapshot in which the first step reads other projections' tables. Undefined where these are
 * at several positions and that matters.
 */
async function startBulk(
  session: Session,
  target: Target,
  onProgress: (step: string) => void,
  { limit, isExact }: { limit: bigint | undefined; isExact: boolean },
): Promise<BulkProgress | undefined> {
  const bounds = [await readLogHead(session), ...(limit === undefined ? [] : [limit])] as const;
  const checkpoints = await readCheckpoints(session);
  if (isExact && !areAligned(target.projection, checkpoints)) return undefined;
  const upTo = reachablePosition(target, checkpoints, bounds);
  await createTables(session, target);
  const { deriveAll, keepsIndexes } = target.projection;
  const isIndexedLast = deriveAll !== undefined && keepsIndexes === undefined;
  const indexes = isIndexedLast ? await dropIndexes(session, target.schema) : [];
  const entries = await readQuarantine(session);
  const excluded = factsToExclude(target.projection, { entries, checkpoints });
  const progress = { upTo, excluded, done: [], part: 0, indexes };
  await createBulkProgress(session, target, progress);
  return await runStep(session, target, progress, onProgress);
}

/** Undefined when only indexes remain. */
const nextStep = ({ projection }: Target, { done }: BulkProgress): string | undefined =>
  stepNames(projection).find((name) => !done.includes(name));

/** Runs the next step, or one part of it, and stores the progress. */
async function runStep(
  session: Session,
  target: Target,
  progress: BulkProgress,
  onProgress: (step: string) => void,
): Promise<BulkProgress> {
  const name = nextStep(target, progress);
  if (name === undefined) return progress;
  if (progress.part === 0) onProgress(name);
  const parts = await derive(session, target, progress);
  const isPartial = parts !== undefined && parts.done < parts.of;
  const reached = isPartial
    ? { ...progress, part: parts.done }
    : { ...progress, done: [...progress.done, name], part: 0 };
  if (isPartial) onProgress(`${name}, ${parts.done} of ${parts.of} parts`);
  await storeBulkProgress(session, target, reached);
  return reached;
}

async function derive(
  session: Session,
  { projection, schema }: Target,
  { upTo, excluded, done, part }: BulkProgress,
): Promise<Parts | undefined> {
  const { deriveAll, apply } = projection;
  let parts: Parts | undefined;
  await withHistory(session, upTo, excluded, async (window) => {
    const step = deriveAll?.[done.length];
    if (step === undefined) await apply(session, schema, window);
    else parts = (await step.derive(session, schema, window, part)) ?? undefined;
  });
  return parts;
}

/** Not in a snapshot: two at a time update the row of the progress. */
async function createIndex(
  db: Database,
  target: Target,
  index: Index,
  onProgress: (step: string) => void,
): Promise<void> {
  onProgress(indexStep(index));
  await db.transaction().execute(async (session) => {
    await configureSession(session);
    await session.getExecutor().executeQuery(CompiledQuery.raw(index.create));
    await storeIndexDone(session, target, index);
  });
}

/** Drops the indexes and keys of a schema's tables. Returns the statements that create them again. */
async function dropIndexes(session: Session, schema: string): Promise<Index[]> {
  const { rows } = await sql<Index & { drop: string }>`
    select c.relname as name, pg_get_indexdef(i.indexrelid) as create,
           case when k.oid is null then format('drop index %s', i.indexrelid::regclass)
                else format('alter table %s drop constraint %I', i.indrelid::regclass, k.conname) end as drop,
           case k.contype
             when 'p' then format('alter table %s add constraint %I primary key using index %I',
                                  i.indrelid::regclass, k.conname, c.relname)
             when 'u' then format('alter table %s add constraint %I unique using index %I',
                                  i.indrelid::regclass, k.conname, c.relname)
           end as attach
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    left join pg_constraint k on k.conindid = i.indexrelid
    where c.relnamespace = to_regnamespace(quote_ident(${schema}))::oid
    order by i.indrelid, i.indexrelid`.execute(session);
  for (const { drop } of rows) await session.getExecutor().executeQuery(CompiledQuery.raw(drop));
  return rows.map(({ name, create, attach }) => ({ name, create, attach }));
}
