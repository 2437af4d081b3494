import type { Database } from "../database.ts";
import type { Target } from "./checkpoint.ts";
import { DerivationFailed } from "./failure.ts";
import type { Window } from "./projection.ts";
import { putAside } from "./quarantine.ts";
import { type Tick, tick } from "./tick.ts";

type Advance = Tick | { outcome: "quarantined"; failure: DerivationFailed };

/**
 * A tick that no single fact stops. Where a projection fails on a window however often it is tried, the facts before the
 * one that it fails on are folded, and that one is put aside for that projection.
 */
export async function advance(db: Database, targets: readonly Target[]): Promise<Advance> {
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
  await putAside(db, last);
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
