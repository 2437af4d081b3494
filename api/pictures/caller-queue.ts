import { LRUCache } from "lru-cache";

type Bounds = {
  readonly atOnce: number;
  readonly waiting: number;
  readonly waitingOfCaller: number;
  readonly perMinuteOfCaller: number;
};

const minuteMs = 60_000;
/** Callers whose minute is remembered. */
const maxCallers = 10_000;

/** Work that callers wait for, a few at once. Callers take turns, so that none waits behind all of another's. */
export type CallerQueue = {
  /** Undefined where too much waits already, or the caller began too much within a minute. */
  run<Result>(caller: string, task: () => Promise<Result>): Promise<Result> | undefined;
};

export function openCallerQueue(bounds: Bounds): CallerQueue {
  const { atOnce, waiting, waitingOfCaller, perMinuteOfCaller } = bounds;
  const begun = new LRUCache<string, number>({
    max: maxCallers,
    ttl: minuteMs,
    noUpdateTTL: true,
  });
  /** By caller, in the order of their turns. */
  const queues = new Map<string, (() => void)[]>();
  let [running, total] = [0, 0];

  function startNext(): void {
    const [next] = queues;
    if (running >= atOnce || next === undefined) return;
    const [caller, [start, ...others]] = next;
    queues.delete(caller);
    if (others.length > 0) queues.set(caller, others);
    running += 1;
    total -= 1;
    start?.();
  }

  async function runInTurn<Result>(turn: Promise<void>, task: () => Promise<Result>) {
    await turn;
    try {
      return await task();
    } finally {
      running -= 1;
      startNext();
    }
  }

  return {
    run(caller, task) {
      const own = queues.get(caller) ?? [];
      const inMinute = begun.get(caller) ?? 0;
      if (total >= waiting || own.length >= waitingOfCaller || inMinute >= perMinuteOfCaller)
        return undefined;
      begun.set(caller, inMinute + 1);
      const turn = new Promise<void>((resolve) => queues.set(caller, [...own, resolve]));
      total += 1;
      const ran = runInTurn(turn, task);
      startNext();
      return ran;
    },
  };
}
