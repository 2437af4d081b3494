import { sql } from "kysely";
import type { Database, Session } from "../database.ts";
import { applyWindow, type OpenWindow, readOpenWindow } from "./apply-window.ts";
import {
  type Checkpoint,
  isOf,
  lockCheckpoints,
  moveCheckpoints,
  readCheckpoints,
  readHead,
  type Target,
} from "./checkpoint.ts";
import { DerivationFailed, isConflict, isLasting } from "./failure.ts";
import type { Window } from "./projection.ts";
import { openWindow } from "./window.ts";

export type Tick =
  /** The targets furthest behind were brought from `window.after` to `window.upTo`; the log ends at `head`. */
  | { outcome: "moved"; window: Window; head: bigint }
  | { outcome: "idle"; head: bigint }
  /** Another projector moved a checkpoint meanwhile: nothing was written. */
  | { outcome: "fenced" };

/** Facts that one tick folds at most. */
const TICK_FACTS = 20_000;
/** Windows up to here are folded by plans for any window. */
const FEW_FACTS = 1_000n;

/**
 * Brings the targets furthest behind one window forward: their rows and their checkpoints in one transaction,
 * so that a crash anywhere leaves all or nothing. Targets are applied in the order given, and not beyond `limit`. Throws
 * `DerivationFailed` where trying again would not help.
 */
export async function tick(
  db: Database,
  targets: readonly Target[],
  maxFacts = TICK_FACTS,
  limit?: bigint,
): Promise<Tick> {
  try {
    return await db
      .transaction()
      .setIsolationLevel("repeatable read")
      .execute(async (session): Promise<Tick> => {
        const head = await readHead(session);
        const end = limit !== undefined && limit < head ? limit : head;
        const checkpoints = await readCheckpoints(session);
        const standing = targets.map((target) => ({
          target,
          position: positionOf(checkpoints.get(target.schema), target),
        }));
        const positions = standing.map(({ position }) => position);
        const window = nextWindow(positions, end, maxFacts);
        if (window === null) return { outcome: "idle", head };

        await setUp(session, window);
        const due = standing.filter(({ position }) => position === window.after);
        const schemas = due.map(({ target }) => target.schema);
        await lockCheckpoints(session, schemas);
        const open = await readOpenWindow(session, await openWindow(session, window), checkpoints);
        for (const { target } of due) await applyTo(session, target, open);
        if ((await moveCheckpoints(session, schemas, window)) !== schemas.length)
          throw new Fenced();
        await sql`select pg_notify('projected', ${window.upTo.toString()})`.execute(session);
        return { outcome: "moved", window, head };
      });
  } catch (error) {
    if (error instanceof Fenced || isConflict(error)) return { outcome: "fenced" };
    throw error;
  }
}

/**
 * Nobody waits for the disk: what a crash takes back is rows and checkpoint alike, and the log has it all. And where few
 * facts are folded, planning for their very number takes longer than a plan for any number does.
 */
async function setUp(session: Session, { after, upTo }: Window): Promise<void> {
  const plans = upTo - after > FEW_FACTS ? "auto" : "force_generic_plan";
  await sql`
    select set_config('synchronous_commit', 'off', true), set_config('plan_cache_mode', ${plans}, true)`.execute(
    session,
  );
}

class Fenced extends Error {}

async function applyTo(session: Session, target: Target, open: OpenWindow): Promise<void> {
  try {
    await applyWindow(session, target, open);
  } catch (error) {
    if (isLasting(error)) throw new DerivationFailed(target.schema, open.window, error);
    throw error;
  }
}

/** Tables of another version are another projector's: this one would write rows that do not belong there. */
function positionOf(checkpoint: Checkpoint | undefined, { projection, schema }: Target): bigint {
  if (checkpoint === undefined) throw new Error(`projection ${schema} has no checkpoint`);
  if (!isOf(checkpoint, projection)) {
    throw new Error(
      `projection ${schema} holds rows of version ${checkpoint.version} or of other parameters, this process derives ` +
        `version ${projection.version}: start it again, or let the newer one work`,
    );
  }
  return checkpoint.position;
}

/** From the lowest position up to the next one, the end, or `maxFacts` further, whichever is nearest. */
function nextWindow(positions: readonly bigint[], end: bigint, maxFacts: number): Window | null {
  const [after, ...others] = [...new Set(positions)].sort((a, b) => (a < b ? -1 : 1));
  if (after === undefined || after >= end) return null;
  const ends = [end, after + BigInt(maxFacts), ...others];
  return { after, upTo: ends.reduce((nearest, one) => (one < nearest ? one : nearest)) };
}
