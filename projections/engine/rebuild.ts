import { sql } from "kysely";
import { readLogHead } from "../log/blocks.ts";
import { withContractIds } from "../log/contracts.ts";
import type { Database, Session } from "../log/database.ts";
import { isConflict } from "../log/database-failure.ts";
import { schemaOf } from "../log/versions.ts";
import { type BulkOptions, deriveInBulk, readBulkProgress } from "./bulk.ts";
import {
  areAligned,
  type Checkpoint,
  isCurrent,
  lockCheckpoints,
  moveCheckpoints,
  reachablePosition,
  readCheckpoints,
  type Target,
} from "./checkpoint.ts";
import { openWindow } from "./fact-window.ts";
import type { Projection, Window } from "./projection.ts";
import { dependsOn, runConcurrently } from "./run-concurrently.ts";
import {
  clearShadowSchema,
  dropUnusedSchema,
  inSwapTransaction,
  readBulkRate,
  renameSchema,
  shadowSchemas,
  storeBulkRate,
  withProjectionLock,
} from "./shadow-schema.ts";
import { deriveInSnapshot } from "./snapshot.ts";
import { align, applyWindow, readOpenWindow, tick } from "./tick.ts";

type OnProgress = (progress: BuildProgress) => void;
/** Run in the transaction of every swap, for what is bound to the tables themselves, such as views. */
type AfterSwap = (session: Session) => Promise<void>;
const nothing: AfterSwap = async () => {};

/** Facts that a swap itself may still apply; more of them are applied before it. */
const SWAP_FACTS = 2_000n;

/**
 * Builds the tables of new projections and versions and rebuilds those whose parameters differ from the stored ones, in
 * shadow schemas: incomplete tables serve nobody. Each starts when the projections that it reads are done, from their
 * tables at one position.
 */
export async function prepareProjections(
  db: Database,
  projections: readonly Projection[],
  onProgress: OnProgress,
  afterSwap: AfterSwap = nothing,
): Promise<void> {
  const prepare = async (projection: Projection) => {
    await withProjectionLock(db, projection.name, async () => {
      const stored = (await readCheckpoints(db)).get(schemaOf(projection.name));
      if (stored === undefined || !isCurrent(stored, projection)) {
        await replace(db, projection, onProgress, afterSwap, () =>
          align(db, projection, projections),
        );
      }
    });
  };
  await runConcurrently(projections, prepare, dependsOn);
}

/** The named projections and all that read their tables, in the order of the list: what is read is rebuilt first. */
export function withDependents(
  projections: readonly Projection[],
  names: readonly string[],
): Projection[] {
  const chosen = new Set(names);
  return projections.filter(({ name, reads = [] }) => {
    if (reads.some((one) => chosen.has(one))) chosen.add(name);
    return chosen.has(name);
  });
}

/**
 * Derives a projection from the log in a shadow schema, while ticks keep the serving tables up to date, and swaps the two
 * in one short transaction. The replaced tables are kept for a rollback. A rebuild that was killed is resumed.
 */
export async function rebuild(
  db: Database,
  projection: Projection,
  onProgress: OnProgress,
  afterSwap: AfterSwap = nothing,
): Promise<void> {
  await withProjectionLock(db, projection.name, () =>
    replace(db, projection, onProgress, afterSwap),
  );
}

async function replace(
  db: Database,
  projection: Projection,
  onProgress: OnProgress,
  afterSwap: AfterSwap,
  alignRead?: () => Promise<void>,
): Promise<void> {
  const target = { projection, schema: shadowSchemas(projection.name).next };
  const options = { align: alignRead };
  await build(db, target, options, onProgress);
  await dropReplacedSchemas(db, projection.name);
  const swap = () => inSwapTransaction(db, (session) => swapIn(session, target, afterSwap));
  while (!(await withContractIds(db, swap))) {
    await catchUp(db, target, options, onProgress);
  }
}

/** Swaps the tables that the last rebuild replaced back in. Null where none are kept. */
export async function rollBack(
  db: Database,
  name: string,
  afterSwap: AfterSwap = nothing,
): Promise<Checkpoint | null> {
  const { previous, replaced } = shadowSchemas(name);
  return await withProjectionLock(db, name, async () => {
    const kept = (await readCheckpoints(db)).get(previous);
    if (kept === undefined) return null;
    await dropUnusedSchema(db, replaced);
    await inSwapTransaction(db, async (session) => {
      await renameSchema(session, schemaOf(name), replaced);
      await renameSchema(session, previous, schemaOf(name));
      await afterSwap(session);
    });
    return kept;
  });
}

/** In transactions of their own: dropping them takes longer than a swap may. */
async function dropReplacedSchemas(db: Database, name: string): Promise<void> {
  const { previous, replaced } = shadowSchemas(name);
  for (const schema of [previous, replaced]) await dropUnusedSchema(db, schema);
}

/**
 * Applies the facts still missing and renames the schemas. False when too many are missing for a transaction that others
 * wait for. Tables that replace none may be behind: nobody reads them yet, and ticks bring them to the others' position.
 */
async function swapIn(session: Session, target: Target, afterSwap: AfterSwap): Promise<boolean> {
  const { projection, schema } = target;
  const served = schemaOf(projection.name);
  const checkpoints = await readCheckpoints(session);
  const after = checkpoints.get(schema)?.position ?? 0n;
  const replaced = checkpoints.get(served);
  const upTo =
    replaced === undefined ? after : reachablePosition(target, checkpoints, [replaced.position]);
  if (upTo - after > SWAP_FACTS) return false;
  await applyToTarget(session, target, { after, upTo });
  if (replaced !== undefined) {
    await renameSchema(session, served, shadowSchemas(projection.name).previous);
  }
  await renameSchema(session, schema, served);
  await afterSwap(session);
  await sql`select pg_notify('projected', ${upTo.toString()})`.execute(session);
  return true;
}

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
type OnBuildProgress = (progress: BuildProgress) => void;

/**
 * Derives a target up to the log's head, the position of what it reads, or `limit`: in bulk, or from the checkpoint of the
 * same version. A derivation in bulk that was killed is resumed after its last committed step.
 */
export async function build(
  db: Database,
  target: Target,
  options: BulkOptions,
  onProgress: OnBuildProgress,
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
  onProgress: OnBuildProgress,
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
  onProgress: OnBuildProgress,
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
  const moved = await deriveInSnapshot(db, async (session) => {
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
