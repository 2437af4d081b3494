import { sql } from "kysely";
import { readLogHead } from "../log/blocks.ts";
import type { Database, Session } from "../log/database.ts";
import { isConflict } from "../log/database-failure.ts";
import { pipelined } from "../log/pipelined.ts";
import { schemaOf } from "../log/versions.ts";
import {
  areAligned,
  type Checkpoint,
  isCurrent,
  lockCheckpoints,
  moveCheckpoints,
  readCheckpoints,
  readPositions,
  type Target,
  targetOf,
} from "./checkpoint.ts";
import {
  closeWindow,
  holdsAny,
  openWindow,
  readKinds,
  withKinds,
  withoutFacts,
} from "./fact-window.ts";
import {
  DerivationFailed,
  type FactWindow,
  isPermanentError,
  type Projection,
  type Window,
  type WindowWithKinds,
} from "./projection.ts";
import {
  excludeFacts,
  type QuarantineState,
  quarantineFact,
  readQuarantine,
} from "./quarantine.ts";
import { dependsOn, runConcurrently } from "./run-concurrently.ts";
import { deriveInSnapshot } from "./snapshot.ts";

type AdvanceResult = Tick | { outcome: "quarantined"; failure: DerivationFailed };

/**
 * A tick that no single fact can block. Where a projection fails permanently on a window, the window is halved until the
 * failing fact is found; the facts before it are applied, and it is quarantined for that projection.
 */
export async function advance(db: Database, targets: readonly Target[]): Promise<AdvanceResult> {
  const first = await attempt(db, targets);
  if (!(first instanceof DerivationFailed)) return first;
  let ahead = sizeOf(first.window);
  while (ahead > 1) {
    const half = Math.floor(ahead / 2);
    const done = await attempt(db, targets, half);
    if (done instanceof DerivationFailed) ahead = Math.min(half, sizeOf(done.window));
    else if (done.outcome === "moved") ahead -= sizeOf(done.window);
    else return done;
  }
  const last = await attempt(db, targets, 1);
  if (!(last instanceof DerivationFailed)) return last;
  await quarantineFact(db, last);
  return { outcome: "quarantined", failure: last };
}

async function attempt(
  db: Database,
  targets: readonly Target[],
  maxFacts?: number,
): Promise<Tick | DerivationFailed> {
  try {
    return await tick(db, targets, maxFacts);
  } catch (error) {
    if (error instanceof DerivationFailed) return error;
    throw error;
  }
}

const sizeOf = ({ after, upTo }: Window) => Number(upTo - after);

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
    return await deriveInSnapshot(db, async (transaction): Promise<Tick> => {
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
      await writeOutputs(session, reached, window.upTo);
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

/**
 * Of serving tables that are all at the window's end now. `after` is the highest position that one had before: where
 * others were behind it, they have changed before this window too.
 */
async function writeOutputs(
  session: Session,
  reached: readonly Reached[],
  upTo: bigint,
): Promise<void> {
  const positions = new Map(reached.map(({ target, position }) => [target.schema, position]));
  for (const { target } of reached) {
    const { output } = target.projection;
    if (output === undefined) continue;
    const before = output.of.map((name) => positions.get(schemaOf(name)) ?? upTo + 1n);
    const after = before.reduce(higher);
    if (after <= upTo) await output.write(session, { after, upTo });
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

/**
 * Applies an open window to targets, each after those whose tables it reads and otherwise at once: on a connection that
 * pipelines, the server works for one of them while the statements of others are made and their answers are read. The
 * first to fail is the cause: what others have sent fails with the transaction.
 */
async function applyTogether(
  session: Session,
  targets: readonly Target[],
  open: OpenWindow,
): Promise<void> {
  await runConcurrently(
    targets,
    (target) => applyTo(session, target, open),
    (one, other) => dependsOn(one.projection, other.projection),
    haveOwnTables(targets, open) ? targets.length : 1,
  );
}

/** Whether no two use the same tables or views of the session: those of one projection do, and those without some facts. */
const haveOwnTables = (targets: readonly Target[], { entries }: OpenWindow): boolean =>
  entries.length === 0 &&
  new Set(targets.map(({ projection }) => projection.name)).size === targets.length;

async function applyTo(session: Session, target: Target, open: OpenWindow): Promise<void> {
  try {
    await applyWindow(session, target, open);
  } catch (error) {
    if (isPermanentError(error))
      throw new DerivationFailed(target.projection.name, open.window, error);
    throw error;
  }
}

/** An open window with the kinds of its changes, and which facts are excluded from which projection. */
type OpenWindow = QuarantineState & { window: WindowWithKinds };

/** The same for all targets that the window is applied to. */
export async function readOpenWindow(
  session: Session,
  window: FactWindow,
  checkpoints: Map<string, Checkpoint>,
): Promise<OpenWindow> {
  const [entries, withTheirKinds] = await Promise.all([
    readQuarantine(session),
    withKinds(session, window),
  ]);
  return { checkpoints, entries, window: withTheirKinds };
}

/** Applies an open window to a target, without the facts that are excluded from it. */
export async function applyWindow(
  session: Session,
  target: Target,
  open: OpenWindow,
): Promise<void> {
  const { projection, schema } = target;
  const { window } = open;
  const excluded = await excludeFacts(session, target, window.after, open);
  if (excluded.length === 0) {
    if (handlesAny(projection, window.kinds)) await projection.apply(session, schema, window);
    return;
  }
  await withoutFacts(session, excluded, window.facts, (facts) =>
    withoutFacts(
      session,
      excluded,
      window.changes,
      async (changes) => {
        const kinds = await readKinds(session, { changes });
        await projection.apply(session, schema, { ...window, facts, changes, kinds });
      },
      "included_change",
    ),
  );
}

/** Whether changes of these kinds may change the tables of a projection. */
export function handlesAny({ handles }: Projection, kinds: ReadonlySet<number>): boolean {
  return handles === undefined || holdsAny(kinds, handles);
}

/**
 * Brings the tables that a projection reads to one position. Those that another release reads too are moved by its
 * projector as well, so they may differ again at once.
 */
export async function align(
  db: Database,
  reader: Projection,
  projections: readonly Projection[],
): Promise<void> {
  const targets = projections.filter(({ name }) => reader.reads?.includes(name)).map(targetOf);
  while (!areAligned(reader, await readCheckpoints(db))) await advance(db, targets);
}
