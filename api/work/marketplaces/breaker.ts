import type { Clock } from "./rate-budget.ts";

const failuresUntilOpen = 5;
const firstRestMs = 5_000;
const longestRestMs = 60_000;

export type Breaker = {
  /** Whether a request may be made; if so, one of the others has to follow. */
  enter(): boolean;
  succeed(): void;
  fail(): void;
  /** The request was not made after all. */
  leave(): void;
};

/**
 * Leaves a partner alone that failed five times in a row. After a rest one request probes it: it ends the rest, or
 * doubles it, up to a minute.
 */
export function createBreaker(clock: Clock): Breaker {
  let failures = 0;
  let restMs = firstRestMs;
  let opensAt: number | null = null;
  let isProbing = false;
  return {
    enter() {
      if (opensAt === null) return true;
      if (isProbing || clock.now() < opensAt) return false;
      isProbing = true;
      return true;
    },
    succeed() {
      failures = 0;
      restMs = firstRestMs;
      opensAt = null;
      isProbing = false;
    },
    fail() {
      failures += 1;
      if (isProbing) restMs = Math.min(restMs * 2, longestRestMs);
      if (failures >= failuresUntilOpen) opensAt = clock.now() + restMs;
      isProbing = false;
    },
    leave() {
      isProbing = false;
    },
  };
}
