const failuresUntilCooldown = 3;
const initialCooldownMs = 60_000;
const maxCooldownMs = 3_600_000;
/** Limit of remembered hosts, as untrusted URLs may name any number. */
const maxHosts = 10_000;

type HostFailures = { failures: number; untilMs: number };

/** Hosts that are not contacted for a while after failures or a `Retry-After`. */
export function createHostCooldowns(now: () => number) {
  const failing = new Map<string, HostFailures>();

  function store(host: string, trouble: HostFailures): void {
    failing.delete(host);
    failing.set(host, trouble);
    const [oldest] = failing.keys();
    if (failing.size > maxHosts && oldest !== undefined) failing.delete(oldest);
  }

  return {
    isCoolingDown: (host: string): boolean => (failing.get(host)?.untilMs ?? 0) > now(),
    recordSuccess(host: string): void {
      failing.delete(host);
    },
    /** `retryAfterMs`: from the host. Otherwise a cooldown from the third failure in a row, doubled each time. */
    recordFailure(host: string, retryAfterMs?: number): void {
      const failures = (failing.get(host)?.failures ?? 0) + 1;
      const doublings = failures - failuresUntilCooldown;
      const ownMs = doublings < 0 ? 0 : Math.min(initialCooldownMs * 2 ** doublings, maxCooldownMs);
      store(host, { failures, untilMs: now() + Math.min(retryAfterMs ?? ownMs, maxCooldownMs) });
    },
  };
}
