import { sql } from "kysely";
import type { Database, Session } from "../database.ts";
import { alone, besides } from "./beside.ts";
import { dropTarget, isOf, readCheckpoints } from "./checkpoint.ts";
import { placeOf, readDraft } from "./draft.ts";
import type { Projection } from "./projection.ts";
import { noteRun, type Run, readRun } from "./schema-note.ts";

/** A rebuild, and what of it is still to be done. */
export type Begun = Run & { readonly left: readonly Projection[]; readonly isTakenUp: boolean };

/**
 * Begins a rebuild of several projections, each after what it reads. Where the same one was killed it is taken up:
 * what it had exchanged is not derived again, unless this program derives another version. `anew` drops it instead.
 */
export async function beginRun(
  db: Database,
  projections: readonly Projection[],
  anew: boolean,
): Promise<Begun> {
  const names = projections.map(({ name }) => name);
  const standing = anew ? null : await findRun(db, projections);
  if (standing !== null) return standing;
  const run = { names, begunAt: new Date() };
  for (const name of names) {
    await alone(db, name, () =>
      db.transaction().execute((session) => openBeside(session, besides(name).next, run)),
    );
  }
  return { ...run, left: projections, isTakenUp: false };
}

/** Null where no schema beside is noted with a rebuild of just these. */
async function findRun(
  session: Session,
  projections: readonly Projection[],
): Promise<Begun | null> {
  const wanted = projections.map(({ name }) => name).join();
  const noted = new Map<string, Run>();
  for (const { name } of projections) {
    const run = await readRun(session, besides(name).next);
    if (run?.names.join() === wanted) noted.set(name, run);
  }
  const [found] = noted.values();
  if (found === undefined) return null;
  const checkpoints = await readCheckpoints(session);
  const isLeft = (projection: Projection) => {
    const serving = checkpoints.get(projection.name);
    return noted.has(projection.name) || serving === undefined || !isOf(serving, projection);
  };
  return { ...found, left: projections.filter(isLeft), isTakenUp: true };
}

export type Standing = {
  name: string;
  version: number | null;
  position: bigint;
  /** What is done of it. */
  words: string;
  /** The command that goes on with it. */
  goesOn: string;
};

/** Rebuilds that are under way, or were killed. */
export async function readRebuilds(
  session: Session,
  projections: readonly Projection[],
): Promise<Standing[]> {
  const checkpoints = await readCheckpoints(session);
  const found: Standing[] = [];
  for (const projection of projections) {
    const { name } = projection;
    const schema = besides(name).next;
    const run = await readRun(session, schema);
    const goesOn = `op rebuild ${(run?.names ?? [name]).join(" ")}`;
    const done = checkpoints.get(schema);
    const draft = await readDraft(session, { projection, schema });
    if (done !== undefined) {
      const { version, position } = done;
      found.push({ name, version, position, words: `was begun and stands at ${position}`, goesOn });
    } else if (draft !== null) {
      const words = `was begun and stands ${placeOf(draft)}`;
      found.push({ name, version: projection.version, position: 0n, words, goesOn });
    } else if (run !== null) {
      found.push({ name, version: null, position: 0n, words: "is still to begin", goesOn });
    }
  }
  return found;
}

/** Empties a schema beside and keeps what is noted with it. */
export async function clearBeside(session: Session, schema: string): Promise<void> {
  const run = await readRun(session, schema);
  if (run === null) await dropTarget(session, schema);
  else await openBeside(session, schema, run);
}

async function openBeside(session: Session, schema: string, run: Run): Promise<void> {
  await dropTarget(session, schema);
  await sql`create schema ${sql.id(schema)}`.execute(session);
  await noteRun(session, schema, run);
}
