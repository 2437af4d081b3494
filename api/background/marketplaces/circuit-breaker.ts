import type { Clock } from "./rate-limiter.ts";

const failuresUntilOpen = 5;
const initialOpenMs = 5_000;
const maxOpenMs = 60_000;

export type CircuitBreaker = {
  /** Whether a request may be made; if so, one of the other methods must be called after it. */
  tryEnter(): boolean;
  recordSuccess(): void;
  recordFailure(): void;
  /** The request was not made. */
  cancel(): void;
};

/**
 * Opens after five failures in a row. After a wait one request probes the partner: success closes the circuit, failure
 * doubles the wait, up to a minute.
 */
export function createCircuitBreaker(clock: Clock): CircuitBreaker {
  let failures = 0;
  let openMs = initialOpenMs;
  let retryAt: number | null = null;
  let isProbing = false;
  return {
    tryEnter() {
      if (retryAt === null) return true;
      if (isProbing || clock.now() < retryAt) return false;
      isProbing = true;
      return true;
    },
    recordSuccess() {
      failures = 0;
      openMs = initialOpenMs;
      retryAt = null;
      isProbing = false;
    },
    recordFailure() {
      failures += 1;
      if (isProbing) openMs = Math.min(openMs * 2, maxOpenMs);
      if (failures >= failuresUntilOpen) retryAt = clock.now() + openMs;
      isProbing = false;
    },
    cancel() {
      isProbing = false;
    },
  };
}
