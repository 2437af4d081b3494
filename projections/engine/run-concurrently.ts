import { isOfFailedTransaction } from "../log/database-failure.ts";
import type { Projection } from "./projection.ts";

/** Projections that are derived at the same time, and indexes of one that are created at the same time. */
export const CONCURRENCY = 2;

/**
 * Does work for each item, `atOnce` at a time, in their order as far as `waitsFor` allows. After a failure nothing
 * more is started; it is thrown when the running work has ended: the first that is not merely of a transaction that
 * had failed by then, which may be heard of before the cause. Results are in the order of `all`.
 */
export async function runConcurrently<One, Result>(
  all: readonly One[],
  work: (one: One) => Promise<Result>,
  waitsFor: (one: One, other: One) => boolean = () => false,
  atOnce = CONCURRENCY,
): Promise<Result[]> {
  const results = new Map<One, Result>();
  const running = new Map<One, Promise<void>>();
  const failures: unknown[] = [];
  const start = (one: One) => {
    const ended = work(one)
      .then((result) => void results.set(one, result))
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(one));
    running.set(one, ended);
  };
  const isFree = (one: One) => !all.some((other) => !results.has(other) && waitsFor(one, other));
  for (;;) {
    const next = all.find((one) => !results.has(one) && !running.has(one) && isFree(one));
    if (next !== undefined && failures.length === 0 && running.size < atOnce) start(next);
    else if (running.size > 0) await Promise.race(running.values());
    else break;
  }
  if (failures.length > 0)
    throw failures.find((failure) => !isOfFailedTransaction(failure)) ?? failures[0];
  return all.map((one) => results.get(one) as Result);
}

/** Whether a projection reads another's tables. */
export const dependsOn = ({ reads = [] }: Projection, { name }: Projection): boolean =>
  reads.includes(name);
