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
