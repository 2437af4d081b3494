/** Time source of the transport, in milliseconds. */
export type Clock = { now(): number; sleep(ms: number): Promise<void> };

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

export type RateLimiter = {
  /** Waits for a slot, at most `waitMs`. False: the next slot is later than that. */
  take(waitMs: number): Promise<boolean>;
  /** Milliseconds until the next slot. */
  waitMs(): number;
  /** The limit, and in how many milliseconds the whole burst is possible again and a pause ends. */
  state(): { perMinute: number; burst: number; restoredInMs: number; pausedForMs: number };
  /** Grants nothing for `ms`. */
  pauseFor(ms: number): void;
};

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
  return {
    async take(atMostMs) {
      const now = clock.now();
      const at = Math.max(now, pausedUntil, nextSlot - burstMs);
      if (at - now > atMostMs) return false;
      nextSlot = Math.max(nextSlot, at) + stepMs;
      const endsAt = now + atMostMs;
      for (let until = at; until > clock.now(); until = pausedUntil) {
        // A pause may start while waiting for the slot.
        if (until > endsAt) return false;
        await clock.sleep(until - clock.now());
      }
      return true;
    },
    state() {
      const now = clock.now();
      const restoredInMs = Math.max(0, nextSlot - now);
      return { perMinute, burst, restoredInMs, pausedForMs: Math.max(0, pausedUntil - now) };
    },
    waitMs: () => Math.max(0, Math.max(pausedUntil, nextSlot - burstMs) - clock.now()),
    pauseFor(ms) {
      pausedUntil = Math.max(pausedUntil, clock.now() + ms);
    },
  };
}
