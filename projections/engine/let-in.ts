import type { Database } from "../database.ts";
import { alone, besides } from "./beside.ts";
import { dropTarget } from "./checkpoint.ts";
import { DerivationFailed, isLasting } from "./failure.ts";
import { inLanes, readsFrom } from "./lanes.ts";
import { type Aside, owedBy, readAside } from "./left-out.ts";
import type { Projection } from "./projection.ts";
import { hold, release } from "./quarantine.ts";
import { withDependents } from "./rebuild.ts";

/** Projections that hold a fact no more, and why some still do. */
export type LetIn = { released: readonly string[]; failure: Error | null };

type Options = {
  /** Position of the fact. */
  fact: bigint;
  /** For this projection only; null: for all that hold it. */
  projection: string | null;
  rebuildOne: (projection: Projection) => Promise<unknown>;
};

/**
 * Has projections take in a fact that they had put aside: they and those that read them are derived anew with it, since
 * what came after may lean on it. Until then their tables leave it out as before. What fails on it holds it again. A
 * release that was killed is taken up.
 */
export async function letIn(
  db: Database,
  projections: readonly Projection[],
  { fact, projection, rebuildOne }: Options,
): Promise<LetIn> {
  const held = await release(db, fact, projection);
  const aside = await readAside(db);
  const owing = projections.filter((one) => owedBy(one, aside).includes(fact));
  const due = owing.map(({ name }) => name);
  const released = [...new Set([...held, ...due])];
  const chosen = withDependents(projections, due);
  try {
    await inLanes(chosen, rebuildOne, readsFrom);
    return { released, failure: null };
  } catch (error) {
    if (!(error instanceof DerivationFailed || isLasting(error))) throw error;
    for (const one of chosen) await holdAgain(db, one, fact, error);
    const now = await readAside(db);
    const isTakenIn = (name: string) => !leavesOut(now, name, fact);
    return { released: released.filter(isTakenIn), failure: error };
  }
}

const leavesOut = ({ checkpoints }: Aside, name: string, fact: bigint) =>
  checkpoints.get(name)?.leftOut.includes(fact) === true;

/** Where the tables still leave the fact out, and none that they read does, nothing would say so from here on. */
async function holdAgain(
  db: Database,
  projection: Projection,
  fact: bigint,
  { message }: Error,
): Promise<void> {
  const { name } = projection;
  await alone(db, name, () =>
    db.transaction().execute(async (session) => {
      const aside = await readAside(session);
      if (!leavesOut(aside, name, fact)) return;
      await dropTarget(session, besides(name).next);
      if (!owedBy(projection, aside).includes(fact)) return;
      await hold(session, { projection: name, fact, error: message });
    }),
  );
}
