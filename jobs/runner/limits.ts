import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import { backOffMs } from "./back-off.ts";
import type { BackOff } from "./job.ts";

type Failures = { failures: number; untilMs: number };

/** The cooldown doubles with each further failure. */
type CooldownOptions = BackOff & {
  now: () => number;
  /** The failure in a row from which on there is a cooldown. */
  failuresUntilCooldown: number;
  /** Failures that a success takes back; absent: all. */
  failuresForgiven?: number;
  /** Milliseconds since a cooldown ended after which all failures are forgiven; absent: they are not. */
  forgivenAfterMs?: number;
};

/** Limit of remembered keys, as untrusted contracts and URLs may name any number. */
const maxKeys = 10_000;

/** Hosts, contracts or requests that are left alone for a while after failures, each time for longer. */
export function createCooldowns<Key extends string | number>(options: CooldownOptions) {
  const { now, failuresUntilCooldown } = options;
  const { failuresForgiven = Number.POSITIVE_INFINITY, forgivenAfterMs } = options;
  const failing = new LRUCache<Key, Failures>({ max: maxKeys });

  const failuresOf = (key: Key): number => {
    const { failures, untilMs } = failing.peek(key) ?? { failures: 0, untilMs: 0 };
    return now() - untilMs >= (forgivenAfterMs ?? Number.POSITIVE_INFINITY) ? 0 : failures;
  };
  /** Milliseconds until the key is left alone no more; 0: it is not. */
  const remainingMs = (key: Key): number => Math.max(0, (failing.peek(key)?.untilMs ?? 0) - now());
  const isCoolingDown = (key: Key): boolean => remainingMs(key) > 0;
  return {
    remainingMs,
    isCoolingDown,
    coolingDown: (): Key[] => [...failing.keys()].filter(isCoolingDown),
    /** Those that are remembered. */
    failures: failuresOf,
    /** Whether failures are remembered. */
    isFailing: (key: Key): boolean => failuresOf(key) > 0,
    recordSuccess(key: Key): void {
      const failures = failuresOf(key) - failuresForgiven;
      if (failures > 0) failing.set(key, { failures, untilMs: now() });
      else failing.delete(key);
    },
    /** `retryAfterMs`: as a host asked for. */
    recordFailure(key: Key, retryAfterMs?: number): void {
      const failures = failuresOf(key) + 1;
      const cooldowns = failures - failuresUntilCooldown + 1;
      const ownMs = cooldowns < 1 ? 0 : backOffMs(cooldowns, options);
      const pauseMs = Math.min(retryAfterMs ?? ownMs, options.mostMs);
      failing.set(key, { failures, untilMs: now() + pauseMs });
    },
  };
}

/** Contracts that a node gave no answer for: called again after a minute, after each further failure later. */
export const unansweredContracts = () =>
  createCooldowns<Address>({
    now: Date.now,
    failuresUntilCooldown: 1,
    firstMs: 60_000,
    mostMs: 3_600_000,
  });

export type UnansweredContracts = ReturnType<typeof unansweredContracts>;

/** What work comes to, or `late` after so long; how the work ends then, nobody hears. */
export async function withinMs<Value, Late>(
  ms: number,
  work: Promise<Value>,
  late: () => Late,
): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  work.catch(() => undefined);
  return await Promise.race([work, over.then(late)]).finally(() => clearTimeout(timer));
}

/** How often each key did something, in a window that begins with its first time. */
export function createWindows(ms: number, now: () => number = Date.now) {
  const counts = new LRUCache<string, number>({
    // It keeps what is just as old as it may be.
    ...{ max: maxKeys, ttl: ms - 1, noUpdateTTL: true },
    ...{ ttlResolution: 0, perf: { now } },
  });
  const of = (key: string): number => counts.get(key) ?? 0;
  return { of, count: (key: string) => void counts.set(key, of(key) + 1) };
}

/** Tasks that run `atOnce`, in all and `ofCaller`. Callers take turns, so that none waits behind all of another's. */
export function openTurns({ atOnce, ofCaller = atOnce }: { atOnce: number; ofCaller?: number }) {
  const queue = openFairQueue<{ readonly caller: string; readonly start: () => void }>();
  const running = openCounts();
  let total = 0;

  function startNext(): void {
    const mayStart = ({ caller }: { caller: string }) => running.of(caller) < ofCaller;
    const next = total < atOnce ? queue.next(mayStart) : undefined;
    if (next === undefined) return;
    total += 1;
    running.add(next.caller, 1);
    next.start();
  }
  return {
    /** Tasks that wait, in all or of one caller. */
    waiting: (caller?: string) => (caller === undefined ? queue.size : queue.sizeOf(caller)),
    async run<Result>(caller: string, task: () => Promise<Result>): Promise<Result> {
      await new Promise<void>((start) => {
        queue.add(caller, { caller, start });
        startNext();
      });
      try {
        return await task();
      } finally {
        total -= 1;
        running.add(caller, -1);
        startNext();
      }
    },
  };
}

/** Counts by name; a name without any takes no memory. */
export function openCounts() {
  const counts = new Map<string, number>();
  const of = (name: string): number => counts.get(name) ?? 0;
  return {
    of,
    add(name: string, change: number): void {
      const sum = of(name) + change;
      if (sum === 0) counts.delete(name);
      else counts.set(name, sum);
    },
  };
}

/** What waits, a queue per caller, served round robin. */
export type FairQueue<Waiting> = {
  readonly size: number;
  sizeOf(caller: string): number;
  add(caller: string, waiting: Waiting): void;
  /** The oldest of the next caller, of those that may start. */
  next(mayStart: (oldest: Waiting) => boolean): Waiting | undefined;
  /** The newest of the caller with the most. */
  newestOfLongestQueue(): Waiting | undefined;
  remove(caller: string, waiting: Waiting): void;
};

export function openFairQueue<Waiting>(): FairQueue<Waiting> {
  // A Map keeps insertion order: the first caller is the one that is served next.
  const queues = new Map<string, Set<Waiting>>();
  let size = 0;

  function remove(caller: string, waiting: Waiting): void {
    const queue = queues.get(caller);
    if (queue?.delete(waiting) !== true) return;
    size -= 1;
    if (queue.size === 0) queues.delete(caller);
  }
  return {
    get size() {
      return size;
    },
    sizeOf: (caller) => queues.get(caller)?.size ?? 0,
    add(caller, waiting) {
      const queue = queues.get(caller) ?? new Set();
      queues.set(caller, queue.add(waiting));
      size += 1;
    },
    next(mayStart) {
      for (const [caller, queue] of queues) {
        const [oldest] = queue;
        if (oldest === undefined || !mayStart(oldest)) continue;
        remove(caller, oldest);
        if (queues.delete(caller)) queues.set(caller, queue);
        return oldest;
      }
      return undefined;
    },
    newestOfLongestQueue() {
      const [longest] = [...queues.values()].toSorted((one, other) => other.size - one.size);
      return longest === undefined ? undefined : [...longest].at(-1);
    },
    remove,
  };
}
