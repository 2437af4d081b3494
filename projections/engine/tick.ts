import { sql } from "kysely";
import type { Database, Session } from "../log/database.ts";
import { isConflict } from "../log/database-failure.ts";
import { readLogHead } from "../log/blocks.ts";
import { pipelined } from "../log/pipelined.ts";
import { applyTogether } from "./apply-together.ts";
import { readOpenWindow } from "./apply-window.ts";
import { type Checkpoint, isCurrent, lockCheckpoints, moveCheckpoints, readCheckpoints, type Target } from "./checkpoint.ts";
import { closeWindow, openWindow } from "./fact-window.ts";
import { inSnapshot } from "./in-snapshot.ts";
import { readPositions } from "./positions.ts";
import type { Window } from "./projection.ts";

export type Tick =
  /** The targets furthest behind were brought from `window.after` to `window.upTo`; the log ends at `head`. */
  | { outcome: "moved"; window: Window; head: bigint }
  | { outcome: "idle"; head: bigint }
  /** Another projector moved a checkpoint meanwhile: nothing was written. */
  | { outcome: "fenced" };

/** Facts that one tick applies at most. */
const TICK_FACTS = 20_000;
/** Windows of up to so many facts are applied with generic plans. */
const FEW_FACTS = 1_000n;

/**
 * Brings the targets furthest behind one window forward: their rows and their checkpoints in one transaction,
 * so that a crash anywhere leaves all or nothing. Targets are applied in the order given, and not beyond `limit`. Where one
 * reads tables that are ahead of it, as those are that the projector of another release moves too, all targets are brought
 * to the highest position instead, however many facts that takes: a shorter window would read rows of later positions.
 * Throws `DerivationFailed` where trying again would not help.
 */
export async function tick(
  db: Database,
  targets: readonly Target[],
  maxFacts?: number,
  limit?: bigint,
): Promise<Tick> {
  try {
    return await inSnapshot(db, async (transaction): Promise<Tick> => {
      const session = await pipelined(db, transaction);
      const [head, checkpoints] = await Promise.all([
        readLogHead(session),
        readCheckpoints(session),
      ]);
      const end = limit !== undefined && limit < head ? limit : head;
      const reached = targets.map((target) => ({
        target,
        position: requirePosition(checkpoints.get(target.schema), target),
      }));
      const isPlain = maxFacts !== undefined || limit !== undefined;
      const ahead = isPlain ? null : highestRead(reached, checkpoints);
      const positions = reached.map(({ position }) => position);
      const window =
        ahead === null
          ? nextWindow(positions, end, maxFacts ?? TICK_FACTS)
          : windowUpTo(positions, ahead);
      if (window === null) return { outcome: "idle", head };

      const isDue = (position: bigint) =>
        ahead === null ? position === window.after : position < ahead;
      const due = reached.filter(({ position }) => isDue(position));
      const schemas = due.map(({ target }) => target.schema);
      await Promise.all([configureSession(session, window), lockCheckpoints(session, schemas)]);
      await applyAll(session, due, { upTo: window.upTo, checkpoints });
      await sql`select pg_notify('projected', ${window.upTo.toString()})`.execute(session);
      return { outcome: "moved", window, head };
    });
  } catch (error) {
    if (error instanceof Fenced || isConflict(error)) return { outcome: "fenced" };
    throw error;
  }
}

/**
 * Commits do not wait for the disk: a crash undoes rows and checkpoint alike, and the log has the facts. For few facts a
 * generic plan is used, since planning takes longer than it saves. Plans that were made for few facts are not kept for
 * many, nor the other way round: a statement without parameters never gets another by itself.
 */
async function configureSession(session: Session, { after, upTo }: Window): Promise<void> {
  const plans = upTo - after > FEW_FACTS ? "auto" : "force_generic_plan";
  const { rows } = await sql<{ made: string | null }>`
    select set_config('synchronous_commit', 'off', true), set_config('plan_cache_mode', ${plans}, true),
           current_setting('engine.plans', true) as made`.execute(session);
  if (rows[0]?.made === plans) return;
  await sql`discard plans`.execute(session);
  await sql`select set_config('engine.plans', ${plans}, false)`.execute(session);
}

class Fenced extends Error {}

type Reached = { readonly target: Target; readonly position: bigint };

/** The highest position of any target, or table that one reads, where some target is behind what it reads. */
function highestRead(
  reached: readonly Reached[],
  checkpoints: ReadonlyMap<string, Checkpoint>,
): bigint | null {
  const read = reached.map(({ target, position }) => ({
    position,
    highest: readPositions(target.projection, checkpoints).reduce(higher, 0n),
  }));
  if (read.every(({ position, highest }) => highest <= position)) return null;
  return read.reduce((most, { position, highest }) => higher(higher(most, position), highest), 0n);
}

const higher = (one: bigint, other: bigint) => (one > other ? one : other);

function windowUpTo(positions: readonly bigint[], upTo: bigint): Window {
  return { after: positions.reduce((least, one) => (one < least ? one : least), upTo), upTo };
}

/** Each target from its own position; those that begin at one position together share the window. */
async function applyAll(
  session: Session,
  due: readonly Reached[],
  { upTo, checkpoints }: { upTo: bigint; checkpoints: Map<string, Checkpoint> },
): Promise<void> {
  for (const [index, { after, targets }] of neighbours(due).entries()) {
    if (index > 0) await closeWindow(session);
    const window = await openWindow(session, { after, upTo });
    await applyTogether(session, targets, await readOpenWindow(session, window, checkpoints));
  }
  for (const after of new Set(due.map(({ position }) => position))) {
    const moving = due.filter(({ position }) => position === after);
    const schemas = moving.map(({ target }) => target.schema);
    if ((await moveCheckpoints(session, schemas, { after, upTo })) !== schemas.length)
      throw new Fenced();
  }
}

/** Targets that follow one another in the order given and begin at one position. */
function neighbours(due: readonly Reached[]): { after: bigint; targets: Target[] }[] {
  const groups: { after: bigint; targets: Target[] }[] = [];
  for (const { target, position } of due) {
    const last = groups.at(-1);
    if (last?.after === position) last.targets.push(target);
    else groups.push({ after: position, targets: [target] });
  }
  return groups;
}

/** Tables of another version belong to another projector: this one would write rows that do not fit. */
function requirePosition(
  checkpoint: Checkpoint | undefined,
  { projection, schema }: Target,
): bigint {
  if (checkpoint === undefined) throw new Error(`projection ${schema} has no checkpoint`);
  if (!isCurrent(checkpoint, projection)) {
    throw new Error(
      `projection ${schema} has tables of version ${checkpoint.version} or of other parameters, this process derives ` +
        `version ${projection.version}: restart this process, or leave the work to the newer one`,
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
