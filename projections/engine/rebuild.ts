import { sql } from "kysely";
import type { Database, Session } from "../log/database.ts";
import { withContractIds } from "../log/contracts.ts";
import { schemaOf } from "../log/versions.ts";
import { align } from "./align.ts";
import { applyToTarget, type BuildProgress, build, catchUp } from "./build.ts";
import { type Checkpoint, isCurrent, reachablePosition, readCheckpoints, type Target } from "./checkpoint.ts";
import type { Projection } from "./projection.ts";
import { dependsOn, runConcurrently } from "./run-concurrently.ts";
import { dropUnusedSchema, inSwapTransaction, renameSchema, shadowSchemas, withProjectionLock } from "./shadow-schema.ts";

type OnProgress = (progress: BuildProgress) => void;
/** Run in the transaction of every swap, for what is bound to the tables themselves, such as views. */
export type AfterSwap = (session: Session) => Promise<void>;
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
