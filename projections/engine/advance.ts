import type { Database } from "../log/database.ts";
import type { Target } from "./checkpoint.ts";
import { DerivationFailed } from "./failure.ts";
import type { Window } from "./projection.ts";
import { quarantineFact } from "./quarantine/quarantine.ts";
import { type Tick, tick } from "./tick.ts";

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
