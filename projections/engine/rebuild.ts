import { sql } from "kysely";
import type { Database, Session } from "../database.ts";
import { bindViews, bindViewsIfStale } from "../reads/analytics/bind-views.ts";
import { alone, besides, dropUnread, exchange, renameTarget } from "./beside.ts";
import { type BuildProgress, bringForward, build, fold } from "./build.ts";
import {
  type Checkpoint,
  endOf,
  isOf,
  readCheckpoints,
  readHead,
  type Target,
} from "./checkpoint.ts";
import { inLanes, readsFrom } from "./lanes.ts";
import type { Projection } from "./projection.ts";

type OnProgress = (progress: BuildProgress) => void;

/** Facts that the exchange itself still folds; more of them are folded before it. */
const LAST_FACTS = 2_000n;

/**
 * Makes the tables of new projections and rebuilds those whose version or parameters differ from what is stored, both
 * beside: half of a table serves nobody. Each begins when what it reads is done, and is not brought beyond those before
 * it in the list that are.
 */
export async function prepareProjections(
  db: Database,
  projections: readonly Projection[],
  onProgress: OnProgress,
): Promise<void> {
  const positions: bigint[] = [];
  const prepare = async (projection: Projection) => {
    const limit = positions.reduce<bigint | undefined>(lower, undefined);
    await alone(db, projection.name, async () => {
      const stored = (await readCheckpoints(db)).get(projection.name);
      if (stored === undefined || !isOf(stored, projection)) {
        await replace(db, projection, onProgress, limit);
      }
    });
    positions.push((await readCheckpoints(db)).get(projection.name)?.position ?? 0n);
  };
  await inLanes(projections, prepare, readsFrom);
  await db.transaction().execute(bindViewsIfStale);
}

const lower = (one: bigint | undefined, other: bigint) =>
  one === undefined || other < one ? other : one;

/** Those named and all that read their tables, in the order of the list: what is read is rebuilt first. */
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
 * Derives a projection anew from the log beside the serving tables, which live ticks go on moving, and exchanges the
 * two in one short transaction. The old ones are kept. A rebuild that was killed is taken up where it stood.
 */
export async function rebuild(
  db: Database,
  projection: Projection,
  onProgress: OnProgress,
): Promise<void> {
  await alone(db, projection.name, () => replace(db, projection, onProgress));
}

async function replace(
  db: Database,
  projection: Projection,
  onProgress: OnProgress,
  limit?: bigint,
): Promise<void> {
  const target = { projection, schema: besides(projection.name).next };
  await build(db, target, limit, onProgress);
  await makeRoom(db, projection.name);
  while (!(await exchange(db, (session) => swap(session, target, limit)))) {
    await bringForward(db, target, limit, onProgress);
  }
}

/** Puts what the last rebuild replaced back in its place. Null when nothing is kept; then nothing is done. */
export async function rollBack(db: Database, name: string): Promise<Checkpoint | null> {
  const { previous, replaced } = besides(name);
  return await alone(db, name, async () => {
    const kept = (await readCheckpoints(db)).get(previous);
    if (kept === undefined) return null;
    await dropUnread(db, replaced);
    await exchange(db, async (session) => {
      await renameTarget(session, name, replaced);
      await renameTarget(session, previous, name);
      await bindViews(session);
    });
    return kept;
  });
}

/** Earlier tables go first, apart: dropping them takes longer than an exchange may. */
async function makeRoom(db: Database, name: string): Promise<void> {
  const { previous, replaced } = besides(name);
  for (const schema of [previous, replaced]) await dropUnread(db, schema);
}

/** Folds what is missing and renames. False when too much is missing for a transaction that others wait for. */
async function swap(session: Session, target: Target, limit?: bigint): Promise<boolean> {
  const { projection, schema } = target;
  const { name } = projection;
  const checkpoints = await readCheckpoints(session);
  const after = checkpoints.get(schema)?.position ?? 0n;
  const serving = checkpoints.get(name)?.position ?? (await readHead(session));
  const upTo = endOf(target, checkpoints, limit === undefined ? [serving] : [serving, limit]);
  if (upTo - after > LAST_FACTS) return false;
  await fold(session, target, { after, upTo });
  if (checkpoints.has(name)) await renameTarget(session, name, besides(name).previous);
  await renameTarget(session, schema, name);
  await bindViews(session);
  await sql`select pg_notify('projected', ${upTo.toString()})`.execute(session);
  return true;
}
