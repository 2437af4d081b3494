import { sql } from "kysely";
import type { Session } from "../database.ts";
import { type Checkpoint, readCheckpoints, type Target } from "./checkpoint.ts";
import type { Projection } from "./projection.ts";
import { isHeld, readVerdicts, type Verdict } from "./quarantine.ts";

/** What was ever put aside, and what each schema's tables were derived without. */
export type Aside = {
  verdicts: readonly Verdict[];
  checkpoints: Map<string, Checkpoint>;
};

export async function readAside(session: Session): Promise<Aside> {
  return { verdicts: await readVerdicts(session), checkpoints: await readCheckpoints(session) };
}

/** Facts that a projection derived anew leaves out: its own, and those of the tables that it reads, as these stand. */
export function heldFor(
  { name, reads = [] }: Projection,
  { verdicts, checkpoints }: Aside,
): bigint[] {
  const own = verdicts.filter((one) => isHeld(one) && one.projection === name);
  const read = reads.flatMap((one) => checkpoints.get(one)?.leftOut ?? []);
  return [...new Set([...own.map(({ fact }) => fact), ...read])];
}

/** Facts that the serving tables leave out and that nobody holds any more: they wait for being derived anew. */
export function owedBy(projection: Projection, aside: Aside): bigint[] {
  const held = heldFor(projection, aside);
  const left = aside.checkpoints.get(projection.name)?.leftOut ?? [];
  return left.filter((fact) => !held.includes(fact));
}

/**
 * Facts that a target leaves out beyond a position: those it was derived without, whatever was said of them since, and
 * those held that still lie ahead, which are noted with its checkpoint, locked by the caller, for those that read it.
 */
export async function leaveOut(
  session: Session,
  { projection, schema }: Target,
  after: bigint,
  aside: Aside,
): Promise<readonly bigint[]> {
  const checkpoint = aside.checkpoints.get(schema);
  if (checkpoint === undefined) throw new Error(`projection ${schema} has no checkpoint`);
  const left = checkpoint.leftOut;
  const ahead = heldFor(projection, aside).filter((fact) => fact > after && !left.includes(fact));
  if (ahead.length === 0) return left;
  const leftOut = [...left, ...ahead];
  await sql`
    update engine.checkpoint set left_out = ${leftOut}::bigint[] where projection = ${schema}`.execute(
    session,
  );
  aside.checkpoints.set(schema, { ...checkpoint, leftOut });
  return leftOut;
}
