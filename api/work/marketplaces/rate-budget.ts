/** Time as the transport sees it. Milliseconds. */
export type Clock = { now(): number; sleep(ms: number): Promise<void> };

export const wallClock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

export type RateBudget = {
  /** Waits for its turn, at most so long. False: the turn would come later than that. */
  take(atMostMs: number): Promise<boolean>;
  /** Nothing is given out for so long. */
  rest(ms: number): void;
};

/**
 * At most `perMinute` requests in any 60 seconds, a tenth of them at once. Turns are given out in the order asked for:
 * each is a point of time, a fixed step after the one before it, and may be used early as long as the burst lasts.
 */
export function createRateBudget(perMinute: number, clock: Clock): RateBudget {
  const burst = Math.max(1, Math.floor(perMinute / 10));
  const stepMs = 60_000 / Math.max(1, perMinute - burst);
  const earlyMs = (burst - 1) * stepMs;
  let nextTurn = Number.NEGATIVE_INFINITY;
  let restsUntil = Number.NEGATIVE_INFINITY;
  return {
    async take(atMostMs) {
      const now = clock.now();
      const at = Math.max(now, restsUntil, nextTurn - earlyMs);
      if (at - now > atMostMs) return false;
      nextTurn = Math.max(nextTurn, at) + stepMs;
      const endsAt = now + atMostMs;
      for (let until = at; until > clock.now(); until = restsUntil) {
        // A rest may begin while the turn is waited for.
        if (until > endsAt) return false;
        await clock.sleep(until - clock.now());
      }
      return true;
    },
    rest(ms) {
      restsUntil = Math.max(restsUntil, clock.now() + ms);
    },
  };
}
