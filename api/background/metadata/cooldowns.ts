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
export function createCooldowns<Key>(options: CooldownOptions) {
  const { now, failuresUntilCooldown, initialMs, maxMs } = options;
  const failing = new Map<Key, Failures>();

  function store(key: Key, entry: Failures): void {
    failing.delete(key);
    failing.set(key, entry);
    const [oldest] = failing.keys();
    if (failing.size > maxKeys && oldest !== undefined) failing.delete(oldest);
  }

  return {
    isCoolingDown: (key: Key): boolean => (failing.get(key)?.untilMs ?? 0) > now(),
    coolingDown: (): Key[] =>
      [...failing].flatMap(([key, { untilMs }]) => (untilMs > now() ? [key] : [])),
    recordSuccess(key: Key): void {
      failing.delete(key);
    },
    /** `retryAfterMs`: as a host asked for. */
    recordFailure(key: Key, retryAfterMs?: number): void {
      const failures = (failing.get(key)?.failures ?? 0) + 1;
      const doublings = failures - failuresUntilCooldown;
      const ownMs = doublings < 0 ? 0 : Math.min(initialMs * 2 ** doublings, maxMs);
      store(key, { failures, untilMs: now() + Math.min(retryAfterMs ?? ownMs, maxMs) });
    },
  };
}
