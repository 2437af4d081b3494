import type { Projection } from "./projection.ts";

/** Projections derived at the same time, and indexes of one of them. */
export const LANES = 2;

/**
 * Does work for each of several, `LANES` at a time, in their order as far as what they wait for allows. After a failure
 * nothing more begins; it is thrown when what was under way has ended. Results are in the order of `all`.
 */
export async function inLanes<One, Result>(
  all: readonly One[],
  work: (one: One) => Promise<Result>,
  waitsFor: (one: One, other: One) => boolean = () => false,
): Promise<Result[]> {
  const results = new Map<One, Result>();
  const underWay = new Map<One, Promise<void>>();
  const failures: unknown[] = [];
  const begin = (one: One) => {
    const ended = work(one)
      .then((result) => void results.set(one, result))
      .catch((error: unknown) => void failures.push(error))
      .finally(() => underWay.delete(one));
    underWay.set(one, ended);
  };
  const isFree = (one: One) => !all.some((other) => !results.has(other) && waitsFor(one, other));
  for (;;) {
    const next = all.find((one) => !results.has(one) && !underWay.has(one) && isFree(one));
    if (next !== undefined && failures.length === 0 && underWay.size < LANES) begin(next);
    else if (underWay.size > 0) await Promise.race(underWay.values());
    else break;
  }
  if (failures.length > 0) throw failures[0];
  return all.map((one) => results.get(one) as Result);
}

/** Whether a projection reads another's tables. */
export const readsFrom = ({ reads = [] }: Projection, { name }: Projection): boolean =>
  reads.includes(name);
