const failuresUntilRest = 3;
const firstRestMs = 60_000;
const longestRestMs = 3_600_000;
/** Hosts remembered: strangers name as many as they like. */
const mostHosts = 10_000;

type Trouble = { failures: number; untilMs: number };

/** Hosts that are left alone for a while, because they did not answer or asked for it. */
export function createHostRests(now: () => number) {
  const troubled = new Map<string, Trouble>();

  function note(host: string, trouble: Trouble): void {
    troubled.delete(host);
    troubled.set(host, trouble);
    const [oldest] = troubled.keys();
    if (troubled.size > mostHosts && oldest !== undefined) troubled.delete(oldest);
  }

  return {
    isResting: (host: string): boolean => (troubled.get(host)?.untilMs ?? 0) > now(),
    noteAnswer(host: string): void {
      troubled.delete(host);
    },
    /** `restMs`: what the host asked for. Else it rests from the third failure in a row on, ever longer. */
    noteFailure(host: string, restMs?: number): void {
      const failures = (troubled.get(host)?.failures ?? 0) + 1;
      const doublings = failures - failuresUntilRest;
      const ownMs = doublings < 0 ? 0 : Math.min(firstRestMs * 2 ** doublings, longestRestMs);
      note(host, { failures, untilMs: now() + Math.min(restMs ?? ownMs, longestRestMs) });
    },
  };
}
