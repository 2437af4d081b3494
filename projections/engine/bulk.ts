import { sql } from "kysely";
import type { Database, Session } from "../database.ts";
import {
  createCheckpoint,
  createTables,
  endOf,
  readCheckpoints,
  readHead,
  type Target,
} from "./checkpoint.ts";
import {
  createDraft,
  type Draft,
  dropDraft,
  type Index,
  indexStep,
  noteIndex,
  placeOf,
  readDraft,
  stepNames,
  storeDraft,
} from "./draft.ts";
import { inLanes } from "./lanes.ts";
import { heldFor } from "./left-out.ts";
import type { Parts } from "./projection.ts";
import { readVerdicts } from "./quarantine.ts";
import { withHistory } from "./window.ts";

/** Memory for a sort or a hash of the session, and for building an index. */
const WORK_MEMORY = "128MB";
const INDEX_MEMORY = "256MB";

/**
 * Makes a target's tables and derives them from the whole log at once: no windows, indexes last. It ends at the log's
 * head, at `limit`, or where the tables stand that the target reads; returns that position. Each step, each part of a
 * long one and each index is a transaction that also notes that it is done: what was killed goes on behind the last.
 */
export async function deriveInBulk(
  db: Database,
  target: Target,
  onProgress: (step: string) => void = () => {},
  limit?: bigint,
): Promise<bigint> {
  const found = await readDraft(db, target);
  if (found !== null) onProgress(`taken up ${placeOf(found)}`);
  let draft =
    found ?? (await inSnapshot(db, (session) => begin(session, target, onProgress, limit)));
  while (nextStep(target, draft) !== undefined) {
    const standing = draft;
    draft = await inSnapshot(db, (session) => goOn(session, target, standing, onProgress));
  }
  const { upTo, left, done, indexes } = draft;
  const missing = indexes.filter((index) => !done.includes(indexStep(index)));
  await inLanes(missing, (index) => makeIndex(db, target, index, onProgress));
  await db.transaction().execute(async (session) => {
    for (const { attach } of indexes) if (attach) await sql.raw(attach).execute(session);
    await createCheckpoint(session, target, upTo, left);
    await dropDraft(session, target);
  });
  return upTo;
}

async function inSnapshot<Result>(
  db: Database,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (session) => {
      await setUp(session);
      return await work(session);
    });
}

/** Commits do not wait for the disk: the exchange does, and all before it with it. */
async function setUp(session: Session): Promise<void> {
  await sql`select set_config('work_mem', ${WORK_MEMORY}, true),
                   set_config('maintenance_work_mem', ${INDEX_MEMORY}, true),
                   set_config('synchronous_commit', 'off', true)`.execute(session);
}

/** The position is that of the snapshot in which the first step reads what it reads of other tables. */
async function begin(
  session: Session,
  target: Target,
  onProgress: (step: string) => void,
  limit: bigint | undefined,
): Promise<Draft> {
  const bounds = [await readHead(session), ...(limit === undefined ? [] : [limit])] as const;
  const checkpoints = await readCheckpoints(session);
  const upTo = endOf(target, checkpoints, bounds);
  await createTables(session, target);
  const indexes =
    target.projection.deriveAll === undefined ? [] : await takeIndexes(session, target.schema);
  const verdicts = await readVerdicts(session);
  const left = heldFor(target.projection, { verdicts, checkpoints });
  const draft = { upTo, left, done: [], part: 0, indexes };
  await createDraft(session, target, draft);
  return await goOn(session, target, draft, onProgress);
}

/** Undefined when only indexes are left. */
const nextStep = ({ projection }: Target, { done }: Draft): string | undefined =>
  stepNames(projection).find((name) => !done.includes(name));

/** A step, or part of one. */
async function goOn(
  session: Session,
  target: Target,
  draft: Draft,
  onProgress: (step: string) => void,
): Promise<Draft> {
  const name = nextStep(target, draft);
  if (name === undefined) return draft;
  if (draft.part === 0) onProgress(name);
  const parts = await derive(session, target, draft);
  const isLeft = parts !== undefined && parts.done < parts.of;
  const moved = isLeft
    ? { ...draft, part: parts.done }
    : { ...draft, done: [...draft.done, name], part: 0 };
  if (isLeft) onProgress(`${name}, ${parts.done} of ${parts.of} parts`);
  await storeDraft(session, target, moved);
  return moved;
}

async function derive(
  session: Session,
  { projection, schema }: Target,
  { upTo, left, done, part }: Draft,
): Promise<Parts | undefined> {
  const { deriveAll, apply } = projection;
  let parts: Parts | undefined;
  await withHistory(session, upTo, left, async (window) => {
    const step = deriveAll?.[done.length];
    if (step === undefined) await apply(session, schema, window);
    else parts = (await step.derive(session, schema, window, part)) ?? undefined;
  });
  return parts;
}

/** Not in a snapshot: two at a time note their ends in one row. */
async function makeIndex(
  db: Database,
  target: Target,
  index: Index,
  onProgress: (step: string) => void,
): Promise<void> {
  onProgress(indexStep(index));
  await db.transaction().execute(async (session) => {
    await setUp(session);
    await sql.raw(index.create).execute(session);
    await noteIndex(session, target, index);
  });
}

/** Drops the indexes and keys of a schema's tables. Returns the statements that make them again. */
async function takeIndexes(session: Session, schema: string): Promise<Index[]> {
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
  for (const { drop } of rows) await sql.raw(drop).execute(session);
  return rows.map(({ name, create, attach }) => ({ name, create, attach }));
}
