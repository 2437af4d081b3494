import { sql } from "kysely";
import { readCheckpoints } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { isQuarantined, readQuarantine } from "#projections/engine/quarantine.ts";
import { rebuild } from "#projections/engine/rebuild.ts";
import { releaseQuarantined } from "#projections/engine/release-quarantined.ts";
import { advance, tick } from "#projections/engine/tick.ts";
import type { Database } from "#projections/log/database.ts";
import { countEvent } from "./coverage.ts";
import type { Random } from "./random.ts";
import type { ProgramFault, RunContext } from "./run-context.ts";

const oneOf = 4;
/** Chances that a program has faults at all, and then at each step. */
const [isFaulty, breaks, isFixed] = [0.3, 0.04, 0.05];

export const noProgramFault = (): ProgramFault => ({ occurs: false, of: null, remainder: 0 });

/** Draws the fault of a program for one history. */
export function drawProgramFault(fault: ProgramFault, random: Random): void {
  Object.assign(fault, { ...noProgramFault(), occurs: random.chance(isFaulty) });
}

/** A projection that fails on some new facts while the program has its fault. */
export function withProgramFault(projection: Projection, fault: ProgramFault): Projection {
  return {
    ...projection,
    async apply(session, schema, window) {
      if (fault.of === projection.name) {
        const { rows } = await sql`
          select from ${window.changes} c
          where c.position > ${window.after} and c.position % ${sql.lit(oneOf)} = ${fault.remainder} limit 1`.execute(
          session,
        );
        if (rows.length > 0) throw new RangeError("a fact that the program cannot read");
      }
      await projection.apply(session, schema, window);
    },
  };
}

/** Sometimes breaks one projection, or fixes the broken one and releases what was quarantined. */
export async function breakOrFixProgram(context: RunContext): Promise<void> {
  const { programFault, random, targets, coverage } = context;
  if (!programFault.occurs) return;
  if (programFault.of !== null) {
    if (random.chance(isFixed)) await fixProgram(context);
  } else if (random.chance(breaks)) {
    programFault.of = random.pick(targets).projection.name;
    programFault.remainder = random.int(0, oneOf - 1);
    countEvent(coverage, "program faults");
  }
}

/** Releases every quarantined fact, through injected faults and concurrent ticks. */
export async function fixProgram({
  programFault,
  faulty,
  random,
  coverage,
  survive,
  targets,
}: RunContext) {
  programFault.of = null;
  const { db, projector } = faulty;
  const projections = targets.map(({ projection }) => projection);
  const rebuildOne = (one: Projection) => rebuild(db, one, () => {});
  const quarantined = (await readQuarantine(db)).filter(isQuarantined);
  for (const { fact, projection } of quarantined) {
    const size = random.pick([1, 7, 1_000]);
    await survive("release", async () => {
      const released = releaseQuarantined(db, projections, { fact, projection, rebuildOne });
      const [outcome, ticked] = await Promise.allSettled([
        released,
        tick(projector, targets, size),
      ]);
      if (outcome.status === "rejected") throw outcome.reason;
      if (ticked.status === "rejected") throw ticked.reason;
      if (outcome.value.failure !== null) throw outcome.value.failure;
    });
    countEvent(coverage, "fact: fact_quarantined");
    countEvent(coverage, "fact: fact_released");
  }
}

/**
 * Projections whose state does not depend on the windows. While a fact is excluded, those that copy from other tables
 * hold what these held at their last window.
 */
export async function withUniqueState(
  db: Database,
  projections: readonly Projection[],
): Promise<readonly Projection[]> {
  const isAnyExcluded = [...(await readCheckpoints(db)).values()].some(
    ({ excludedPositions }) => excludedPositions.length > 0,
  );
  return isAnyExcluded ? projections.filter(({ reads = [] }) => reads.length === 0) : projections;
}

/** A tick as projectors do it: a fact that a projection fails on is quarantined. */
export async function tickOrAdvance(
  { programFault, targets }: Pick<RunContext, "programFault" | "targets">,
  db: Database,
  maxFacts: number,
): Promise<unknown> {
  return programFault.of === null ? await tick(db, targets, maxFacts) : await advance(db, targets);
}
