import { sql } from "kysely";
import type { Database, Session } from "../database.ts";
import { applyWindow, readOpenWindow } from "./apply-window.ts";
import { deriveInBulk } from "./bulk.ts";
import {
  endOf,
  isOf,
  lockCheckpoints,
  moveCheckpoints,
  readCheckpoints,
  readHead,
  type Target,
} from "./checkpoint.ts";
import { readDraft } from "./draft.ts";
import { isConflict } from "./failure.ts";
import type { Window } from "./projection.ts";
import { clearBeside } from "./rebuild-run.ts";
import { notePace, readPace } from "./schema-note.ts";
import { tick } from "./tick.ts";
import { openWindow } from "./window.ts";

/** Facts that a window holds while nobody reads the tables yet: more than a live one. */
const BUILD_FACTS = 100_000;

/** How far a derivation is: its position, or in bulk the step that it is at and the last one's facts/s. */
export type BuildProgress = {
  projection: string;
  position: bigint;
  head: bigint;
  step?: string;
  pace?: number | null;
};
type OnProgress = (progress: BuildProgress) => void;

/**
 * Derives a target up to the log's head, what it reads, or `limit`: in bulk, or from where the same version had come to.
 * A killed derivation in bulk is taken up behind the last step that it had committed.
 */
export async function build(
  db: Database,
  target: Target,
  limit: bigint | undefined,
  onProgress: OnProgress,
): Promise<void> {
  const { schema, projection } = target;
  const begun = (await readCheckpoints(db)).get(schema);
  if (begun === undefined || !isOf(begun, projection)) {
    if ((await readDraft(db, target)) === null) {
      await db.transaction().execute((session) => clearBeside(session, schema));
    }
    await buildInBulk(db, target, limit, onProgress);
  }
  await bringForward(db, target, limit, onProgress);
  await analyze(db, schema);
}

async function buildInBulk(
  db: Database,
  target: Target,
  limit: bigint | undefined,
  onProgress: OnProgress,
): Promise<void> {
  const { name } = target.projection;
  const report = { projection: name, head: await readHead(db) };
  const bulk = { ...report, position: 0n, pace: await readPace(db, name) };
  const startedAt = performance.now();
  const position = await deriveInBulk(db, target, (step) => onProgress({ ...bulk, step }), limit);
  await notePace(db, target.schema, position, (performance.now() - startedAt) / 1_000);
  onProgress({ ...report, position });
}

/**
 * Folds what came since, window by window. Nobody else moves these tables, but an exchange of others touches every
 * checkpoint: then the window is folded again.
 */
export async function bringForward(
  db: Database,
  target: Target,
  limit: bigint | undefined,
  onProgress: OnProgress,
): Promise<void> {
  const report = (position: bigint, head: bigint) =>
    onProgress({ projection: target.projection.name, position, head });
  if ((target.projection.reads ?? []).length > 0) {
    while (await followExactly(db, target, limit, report));
    return;
  }
  for (;;) {
    const moved = await tick(db, [target], BUILD_FACTS, limit);
    if (moved.outcome === "idle") return;
    if (moved.outcome === "moved") report(moved.window.upTo, moved.head);
  }
}

/**
 * One window that ends where the tables stand that it reads, as one snapshot shows both. A shorter one would copy rows
 * of later positions, and a block dropped and brought back meanwhile would not be looked at again.
 */
async function followExactly(
  db: Database,
  target: Target,
  limit: bigint | undefined,
  report: (position: bigint, head: bigint) => void,
): Promise<boolean> {
  const moved = await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (session) => {
      const head = await readHead(session);
      const checkpoints = await readCheckpoints(session);
      const after = checkpoints.get(target.schema)?.position ?? 0n;
      const upTo = endOf(target, checkpoints, [head, ...(limit === undefined ? [] : [limit])]);
      if (after >= upTo) return "idle";
      await fold(session, target, { after, upTo });
      return { upTo, head };
    })
    .catch((error: unknown) => {
      if (isConflict(error)) return "again";
      throw error;
    });
  if (typeof moved === "object") report(moved.upTo, moved.head);
  return moved !== "idle";
}

/** Brings a target's rows and checkpoint over one window, in the session's transaction. */
export async function fold(session: Session, target: Target, window: Window): Promise<void> {
  if (window.upTo <= window.after) return;
  const { schema } = target;
  await lockCheckpoints(session, [schema]);
  const opened = await openWindow(session, window);
  const open = await readOpenWindow(session, opened, await readCheckpoints(session));
  await applyWindow(session, target, open);
  if ((await moveCheckpoints(session, [schema], window)) !== 1) {
    throw new Error(`${schema} is being moved elsewhere`);
  }
}

/** Statistics of tables that were filled in one go: without them their first readers get plans for empty ones. */
async function analyze(db: Database, schema: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = ${schema}`.execute(db);
  for (const { name } of rows) await sql`analyze ${sql.id(schema, name)}`.execute(db);
}
