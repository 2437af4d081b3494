type QueuedTask = { host: string; start: () => void };

export type HostQueue = {
  /** Runs the task once the total and the host are below their limits. */
  run<Result>(host: string, task: () => Promise<Result>): Promise<Result>;
};

/** Limits concurrency: `maxInFlight` tasks in total, `maxPerHost` for one host. A slow host does not block others. */
export function createHostQueue(maxInFlight: number, maxPerHost: number): HostQueue {
  const inFlight = new Map<string, number>();
  let total = 0;
  const waiting: QueuedTask[] = [];

  function startNext(): void {
    if (total >= maxInFlight) return;
    const index = waiting.findIndex(({ host }) => (inFlight.get(host) ?? 0) < maxPerHost);
    const [next] = index === -1 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    total += 1;
    inFlight.set(next.host, (inFlight.get(next.host) ?? 0) + 1);
    next.start();
  }

  function end(host: string): void {
    total -= 1;
    const left = (inFlight.get(host) ?? 1) - 1;
    if (left === 0) inFlight.delete(host);
    else inFlight.set(host, left);
    startNext();
  }

  return {
    async run(host, task) {
      await new Promise<void>((start) => {
        waiting.push({ host, start });
        startNext();
      });
      try {
        return await task();
      } finally {
        end(host);
      }
    },
  };
}
