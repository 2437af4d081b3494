import { CompiledQuery, sql } from "kysely";
import { readLogHead } from "../log/blocks.ts";
import type { Database, Session } from "../log/database.ts";
import { isConflict, isMissingRelation } from "../log/database-failure.ts";
import {
  areAligned,
  createCheckpoint,
  createTables,
  reachablePosition,
  readCheckpoints,
  type Target,
} from "./checkpoint.ts";
import { withHistory } from "./fact-window.ts";
import type { Parts } from "./projection.ts";
import { factsToExclude, readQuarantine } from "./quarantine.ts";
import { runConcurrently } from "./run-concurrently.ts";
import { deriveInSnapshot } from "./snapshot.ts";

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
      return await deriveInSnapshot(db, async (session) => {
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

/** How a dropped index is created again and, where it is a key, attached to its table as a constraint. */
type Index = {
  readonly name: string;
  readonly create: string;
  readonly attach: string | null;
};

/** Progress of a derivation in bulk, in a table of its schema: the schema has no checkpoint before all is done. */
type BulkProgress = {
  /** Position that every step derives up to. */
  readonly upTo: bigint;
  /** Facts excluded from every step. */
  readonly excluded: readonly bigint[];
  /** Names of the steps done, in order, then of indexes in any order. */
  readonly done: readonly string[];
  /** Parts done of the step that follows. */
  readonly part: number;
  /** Created after all steps. */
  readonly indexes: readonly Index[];
};

/** Null where there is none, or where it is another version's. */
export async function readBulkProgress(
  session: Session,
  { projection, schema }: Target,
): Promise<BulkProgress | null> {
  const found = await sql<{ is: boolean }>`
    select to_regclass(${`"${schema}".bulk_progress`}) is not null as is`.execute(session);
  if (found.rows[0]?.is !== true) return null;
  const { version, parameters = "" } = projection;
  const { rows } = await sql<Omit<BulkProgress, "excluded"> & { excluded: string[] }>`
    select up_to as "upTo", excluded_positions::text[] as excluded, done, part, indexes
    from ${tableOf(schema)}
    where version = ${version} and parameters = ${parameters}`
    .execute(session)
    .catch((error: unknown) => {
      // The derivation has just ended.
      if (isMissingRelation(error)) return { rows: [] };
      throw error;
    });
  const [row] = rows;
  if (row === undefined || !matchesSteps(row, stepNames(projection))) return null;
  return { ...row, excluded: row.excluded.map(BigInt) };
}

async function createBulkProgress(
  session: Session,
  { projection, schema }: Target,
  { upTo, excluded, indexes }: BulkProgress,
): Promise<void> {
  const { version, parameters = "" } = projection;
  await sql`
    create table ${tableOf(schema)} (
      version integer not null, parameters text not null, up_to bigint not null, excluded_positions bigint[] not null,
      done text[] not null, part integer not null, indexes jsonb not null
    )`.execute(session);
  await sql`
    insert into ${tableOf(schema)}
    values (${version}, ${parameters}, ${upTo}, ${excluded}::bigint[], '{}', 0, ${JSON.stringify(indexes)}::jsonb)
  `.execute(session);
}

/** In the transaction of the derived rows. */
async function storeBulkProgress(
  session: Session,
  { schema }: Target,
  { done, part }: BulkProgress,
): Promise<void> {
  await sql`
    update ${tableOf(schema)} set done = ${done}::text[], part = ${part}`.execute(session);
}

async function dropBulkProgress(session: Session, { schema }: Target): Promise<void> {
  await sql`drop table ${tableOf(schema)}`.execute(session);
}

/** Stores that an index is created; others may be stored at the same time. */
async function storeIndexDone(session: Session, { schema }: Target, index: Index): Promise<void> {
  await sql`
    update ${tableOf(schema)} set done = array_append(done, ${indexStep(index)})`.execute(session);
}

/** In order. A projection without steps of its own is one step. */
function stepNames({ deriveAll }: Target["projection"]): string[] {
  return deriveAll?.map(({ name }) => name) ?? ["all facts"];
}

const tableOf = (schema: string) => sql.id(schema, "bulk_progress");

const indexStep = ({ name }: Index): string => `index ${name}`;

/** For people: how far a derivation had come. */
export function describeBulkProgress({ done, part }: BulkProgress): string {
  const last = done.at(-1);
  const after = last === undefined ? "from its start" : `after ${last}`;
  return part === 0 ? after : `${after} and ${part} parts of the next step`;
}

/** Whether the first steps are done, or all of them and some indexes. */
function matchesSteps(
  { done, indexes }: Pick<BulkProgress, "indexes" | "done">,
  steps: readonly string[],
) {
  const names = new Set(indexes.map(indexStep));
  return done.every((name, index) =>
    index < steps.length ? steps[index] === name : names.has(name),
  );
}
