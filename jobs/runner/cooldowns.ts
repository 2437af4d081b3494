import { LRUCache } from "lru-cache";
import type { Address } from "viem";

type Failures = { failures: number; untilMs: number };

type CooldownOptions = {
  now: () => number;
  /** The failure in a row from which on there is a cooldown; it doubles with each further one. */
  failuresUntilCooldown: number;
  initialMs: number;
  maxMs: number;
};

/** Limit of remembered keys, as untrusted contracts and URLs may name any number. */
const maxKeys = 10_000;

/** Hosts or contracts that are left alone for a while after failures, each time for longer. */
export function createCooldowns<Key extends string | number>(options: CooldownOptions) {
  const { now, failuresUntilCooldown, initialMs, maxMs } = options;
  const failing = new LRUCache<Key, Failures>({ max: maxKeys });

  return {
    isCoolingDown: (key: Key): boolean => (failing.peek(key)?.untilMs ?? 0) > now(),
    coolingDown: (): Key[] =>
      [...failing].flatMap(([key, { untilMs }]) => (untilMs > now() ? [key] : [])),
    recordSuccess(key: Key): void {
      failing.delete(key);
    },
    /** `retryAfterMs`: as a host asked for. */
    recordFailure(key: Key, retryAfterMs?: number): void {
      const failures = (failing.peek(key)?.failures ?? 0) + 1;
      const doublings = failures - failuresUntilCooldown;
      const ownMs = doublings < 0 ? 0 : Math.min(initialMs * 2 ** doublings, maxMs);
      failing.set(key, { failures, untilMs: now() + Math.min(retryAfterMs ?? ownMs, maxMs) });
    },
  };
}

/** Contracts that a node gave no answer for: called again after a minute, after each further failure later. */
export const unansweredContracts = () =>
  createCooldowns<Address>({
    now: Date.now,
    failuresUntilCooldown: 1,
    initialMs: 60_000,
    maxMs: 3_600_000,
  });

export type UnansweredContracts = ReturnType<typeof unansweredContracts>;
