import { sql } from "kysely";
import type { Database } from "../../projections/database.ts";
import { advance } from "../../projections/engine/advance.ts";
import { readCheckpoints } from "../../projections/engine/checkpoint.ts";
import { letIn } from "../../projections/engine/let-in.ts";
import type { Projection } from "../../projections/engine/projection.ts";
import { isHeld, readVerdicts } from "../../projections/engine/quarantine.ts";
import { rebuild } from "../../projections/engine/rebuild.ts";
import { tick } from "../../projections/engine/tick.ts";
import type { Illness, Player } from "./player.ts";
import type { Random } from "./random.ts";
import { note } from "./reached.ts";

const oneOf = 4;
/** Chances that a program has faults at all, and then at each step. */
const [isFaulty, falls, recovers] = [0.3, 0.04, 0.05];

export const wellness = (): Illness => ({ occurs: false, of: null, remainder: 0 });

/** A program for a history of its own. */
export function begin(illness: Illness, random: Random): void {
  Object.assign(illness, { ...wellness(), occurs: random.chance(isFaulty) });
}

/** A projection that fails on what is new to it while it is ill. */
export function ailing(projection: Projection, illness: Illness): Projection {
  return {
    ...projection,
    async apply(session, schema, window) {
      if (illness.of === projection.name) {
        const { rows } = await sql`
          select from ${window.changes} c
          where c.position > ${window.after} and c.position % ${sql.lit(oneOf)} = ${illness.remainder} limit 1`.execute(
          session,
        );
        if (rows.length > 0) throw new RangeError("a fact that the program cannot read");
      }
      await projection.apply(session, schema, window);
    },
  };
}

/** Now and then one of a stage's projections falls ill, and later it is well and takes in what was put aside. */
export async function fallIllOrRecover(player: Player): Promise<void> {
  const { illness, random, targets, reached } = player;
  if (!illness.occurs) return;
  if (illness.of !== null) {
    if (random.chance(recovers)) await recover(player);
  } else if (random.chance(falls)) {
    illness.of = random.pick(targets).projection.name;
    illness.remainder = random.int(0, oneOf - 1);
    note(reached, "illnesses");
  }
}

/** Every fact that was put aside counts from here on, whatever the release of it has to survive, ticks beside it too. */
export async function recover({ illness, faulty, random, reached, survive, targets }: Player) {
  illness.of = null;
  const { db, projector } = faulty;
  const projections = targets.map(({ projection }) => projection);
  const rebuildOne = (one: Projection) => rebuild(db, one, () => {});
  const held = (await readVerdicts(db)).filter(isHeld);
  for (const { fact, projection } of held) {
    const size = random.pick([1, 7, 1_000]);
    await survive("release", async () => {
      const released = letIn(db, projections, { fact, projection, rebuildOne });
      const [outcome, ticked] = await Promise.allSettled([
        released,
        tick(projector, targets, size),
      ]);
      if (outcome.status === "rejected") throw outcome.reason;
      if (ticked.status === "rejected") throw ticked.reason;
      if (outcome.value.failure !== null) throw outcome.value.failure;
    });
    note(reached, "fact: fact_quarantined");
    note(reached, "fact: fact_released");
  }
}

/**
 * Projections whose state is one whatever the windows were. While a fact is put aside, what copies from tables of others
 * has what those had when it last looked.
 */
export async function settled(
  db: Database,
  projections: readonly Projection[],
): Promise<readonly Projection[]> {
  const isAside = [...(await readCheckpoints(db)).values()].some(
    ({ leftOut }) => leftOut.length > 0,
  );
  return isAside ? projections.filter(({ reads = [] }) => reads.length === 0) : projections;
}

/** A tick as projectors make it: what fails on one fact puts it aside. */
export async function goAhead(
  { illness, targets }: Pick<Player, "illness" | "targets">,
  db: Database,
  maxFacts: number,
): Promise<unknown> {
  return illness.of === null ? await tick(db, targets, maxFacts) : await advance(db, targets);
}
