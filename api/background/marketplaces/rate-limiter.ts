/** Time source of the transport, in milliseconds. */
export type Clock = { now(): number; sleep(ms: number): Promise<void> };

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

export type RateLimiter = {
  /** Waits for a slot, at most `waitMs`. `retryInMs`: the next slot is later than that. */
  take(waitMs: number): Promise<{ granted: true } | { granted: false; retryInMs: number }>;
  /** The limit, and in how many milliseconds the whole burst is possible again and a pause ends. */
  state(): { perMinute: number; burst: number; restoredInMs: number; pausedForMs: number };
  /** Grants nothing for `ms`. */
  pauseFor(ms: number): void;
};

/** After a minute without requests all of the burst is there again. */
const maxSpreadMs = 60_000;

/**
 * At most `perMinute` requests in any 60 seconds, `burst` of them at once (a tenth) (generic cell rate algorithm). Slots are
 * granted in call order, a fixed step apart, and may be used early while the burst lasts.
 */
export function createRateLimiter(
  perMinute: number,
  clock: Clock,
  burst: number = Math.max(1, Math.floor(perMinute / 10)),
): RateLimiter {
  const stepMs = 60_000 / Math.max(1, perMinute - burst);
  const burstMs = (burst - 1) * stepMs;
  let nextSlot = Number.NEGATIVE_INFINITY;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  /** In a row. Each reports a slot of its own: all of a bulk call would come back for the first one. */
  let refusals = 0;
  const refuse = (waitMs: number) => {
    const retryInMs = waitMs + Math.min(refusals * stepMs, maxSpreadMs);
    refusals += 1;
    return { granted: false, retryInMs } as const;
  };
  return {
    async take(atMostMs) {
      const now = clock.now();
      const at = Math.max(now, pausedUntil, nextSlot - burstMs);
      if (at - now > atMostMs) return refuse(at - now);
      refusals = 0;
      nextSlot = Math.max(nextSlot, at) + stepMs;
      const endsAt = now + atMostMs;
      for (let until = at; until > clock.now(); until = pausedUntil) {
        // A pause may start while waiting for the slot.
        if (until > endsAt) return refuse(until - clock.now());
        await clock.sleep(until - clock.now());
      }
      return { granted: true };
    },
    state() {
      const now = clock.now();
      const restoredInMs = Math.max(0, nextSlot - now);
      return { perMinute, burst, restoredInMs, pausedForMs: Math.max(0, pausedUntil - now) };
    },
    pauseFor(ms) {
      pausedUntil = Math.max(pausedUntil, clock.now() + ms);
    },
  };
}
