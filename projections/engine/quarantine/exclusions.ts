import { sql } from "kysely";
import type { Session } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { type Checkpoint, readCheckpoints, type Target } from "../checkpoint.ts";
import type { Projection } from "../projection.ts";
import { isQuarantined, type QuarantineEntry, readQuarantine } from "./quarantine.ts";

/** Every fact that was ever quarantined, and the facts that each schema's tables were derived without. */
export type QuarantineState = {
  entries: readonly QuarantineEntry[];
  checkpoints: Map<string, Checkpoint>;
};

export async function readQuarantineState(session: Session): Promise<QuarantineState> {
  return { entries: await readQuarantine(session), checkpoints: await readCheckpoints(session) };
}

/** Facts to exclude from a projection that is derived now: its own quarantined ones, and those excluded from tables it reads. */
export function factsToExclude(
  { name, reads = [] }: Projection,
  { entries, checkpoints }: QuarantineState,
): bigint[] {
  const own = entries.filter((one) => isQuarantined(one) && one.projection === name);
  const read = reads.flatMap((one) => checkpoints.get(schemaOf(one))?.excludedPositions ?? []);
  return [...new Set([...own.map(({ fact }) => fact), ...read])];
}

/** Facts that are excluded from the serving tables and no longer quarantined: a rebuild is to replay them. */
export function factsPendingReplay(projection: Projection, state: QuarantineState): bigint[] {
  const toExclude = factsToExclude(projection, state);
  const excluded = state.checkpoints.get(schemaOf(projection.name))?.excludedPositions ?? [];
  return excluded.filter((fact) => !toExclude.includes(fact));
}

/**
 * Facts excluded from a target from a position on: those it was derived without, also where they were released since,
 * and quarantined ones that still lie ahead. These are added to its checkpoint, which the caller has locked.
 */
export async function excludeFacts(
  session: Session,
  { projection, schema }: Target,
  after: bigint,
  state: QuarantineState,
): Promise<readonly bigint[]> {
  const checkpoint = state.checkpoints.get(schema);
  if (checkpoint === undefined) throw new Error(`projection ${schema} has no checkpoint`);
  const excluded = checkpoint.excludedPositions;
  const ahead = factsToExclude(projection, state).filter(
    (fact) => fact > after && !excluded.includes(fact),
  );
  if (ahead.length === 0) return excluded;
  const excludedPositions = [...excluded, ...ahead];
  await sql`
    update engine.checkpoint set excluded_positions = ${excludedPositions}::bigint[] where projection = ${schema}`.execute(
    session,
  );
  state.checkpoints.set(schema, { ...checkpoint, excludedPositions });
  return excludedPositions;
}
