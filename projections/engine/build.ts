import { sql } from "kysely";
import type { Database, Session } from "../log/database.ts";
import { isConflict } from "../log/database-failure.ts";
import { readLogHead } from "../log/blocks.ts";
import { applyWindow, readOpenWindow } from "./apply-window.ts";
import { type BulkOptions, deriveInBulk } from "./bulk.ts";
import { readBulkProgress } from "./bulk-progress.ts";
import { isCurrent, lockCheckpoints, moveCheckpoints, reachablePosition, readCheckpoints, type Target } from "./checkpoint.ts";
import { openWindow } from "./fact-window.ts";
import { inSnapshot } from "./in-snapshot.ts";
import { areAligned } from "./positions.ts";
import type { Window } from "./projection.ts";
import { clearShadowSchema } from "./rebuild-progress.ts";
import { readBulkRate, storeBulkRate } from "./schema-comment.ts";
import { tick } from "./tick.ts";

/** Facts of a window while nobody reads the tables yet: more than in a live tick. */
const BUILD_FACTS = 100_000;

/** How far a build is: its position, or its step while it derives in bulk. */
export type BuildProgress = {
  projection: string;
  position: bigint;
  head: bigint;
  step?: string;
  factsPerSecond?: number | null;
};
type OnProgress = (progress: BuildProgress) => void;

/**
 * Derives a target up to the log's head, the position of what it reads, or `limit`: in bulk, or from the checkpoint of the
 * same version. A derivation in bulk that was killed is resumed after its last committed step.
 */
export async function build(
  db: Database,
  target: Target,
  options: BulkOptions,
  onProgress: OnProgress,
): Promise<void> {
  const { schema, projection } = target;
  const checkpoint = (await readCheckpoints(db)).get(schema);
  if (checkpoint === undefined || !isCurrent(checkpoint, projection)) {
    if ((await readBulkProgress(db, target)) === null) {
      await db.transaction().execute((session) => clearShadowSchema(session, schema));
    }
    await buildInBulk(db, target, options, onProgress);
  }
  await catchUp(db, target, options, onProgress);
  await analyze(db, schema);
}

async function buildInBulk(
  db: Database,
  target: Target,
  options: BulkOptions,
  onProgress: OnProgress,
): Promise<void> {
  const { name } = target.projection;
  const report = { projection: name, head: await readLogHead(db) };
  const bulk = { ...report, position: 0n, pace: await readBulkRate(db, name) };
  const startedAt = performance.now();
  const position = await deriveInBulk(db, target, (step) => onProgress({ ...bulk, step }), options);
  await storeBulkRate(db, target.schema, position, (performance.now() - startedAt) / 1_000);
  onProgress({ ...report, position });
}

/**
 * Applies the facts that came since, window by window. A swap of another projection updates every checkpoint, which
 * aborts the window: it is then applied again.
 */
export async function catchUp(
  db: Database,
  target: Target,
  { limit, align }: BulkOptions,
  onProgress: OnProgress,
): Promise<void> {
  const report = (position: bigint, head: bigint) =>
    onProgress({ projection: target.projection.name, position, head });
  if ((target.projection.reads ?? []).length > 0) {
    do await align?.();
    while (await catchUpExactly(db, target, { limit, isExact: align !== undefined }, report));
    return;
  }
  for (;;) {
    const moved = await tick(db, [target], BUILD_FACTS, limit);
    if (moved.outcome === "idle") return;
    if (moved.outcome === "moved") report(moved.window.upTo, moved.head);
  }
}

/**
 * Applies one window that ends at the position of the tables that the target reads, both in one snapshot. A shorter window
 * would read rows of later positions.
 */
async function catchUpExactly(
  db: Database,
  target: Target,
  { limit, isExact }: { limit: bigint | undefined; isExact: boolean },
  report: (position: bigint, head: bigint) => void,
): Promise<boolean> {
  const moved = await inSnapshot(db, async (session) => {
    const head = await readLogHead(session);
    const checkpoints = await readCheckpoints(session);
    if (isExact && !areAligned(target.projection, checkpoints)) return "again";
    const after = checkpoints.get(target.schema)?.position ?? 0n;
    const upTo = reachablePosition(target, checkpoints, [
      head,
      ...(limit === undefined ? [] : [limit]),
    ]);
    if (after >= upTo) return "idle";
    await applyToTarget(session, target, { after, upTo });
    return { upTo, head };
  }).catch((error: unknown) => {
    if (isConflict(error)) return "again";
    throw error;
  });
  if (typeof moved === "object") report(moved.upTo, moved.head);
  return moved !== "idle";
}

/** Applies one window to a target's rows and checkpoint, in the session's transaction. */
export async function applyToTarget(
  session: Session,
  target: Target,
  window: Window,
): Promise<void> {
  if (window.upTo <= window.after) return;
  const { schema } = target;
  await lockCheckpoints(session, [schema]);
  const opened = await openWindow(session, window);
  const open = await readOpenWindow(session, opened, await readCheckpoints(session));
  await applyWindow(session, target, open);
  if ((await moveCheckpoints(session, [schema], window)) !== 1) {
    throw new Error(`another process has moved the checkpoint of ${schema}`);
  }
}

/** Statistics of newly filled tables: without them their first readers get plans for empty ones. */
async function analyze(db: Database, schema: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = ${schema}`.execute(db);
  for (const { name } of rows) await sql`analyze ${sql.id(schema, name)}`.execute(db);
}
