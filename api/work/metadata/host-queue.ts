type Waiting = { host: string; start: () => void };

export type HostQueue = {
  /** Does the task once few enough are under way, of all hosts and of this one. */
  run<Result>(host: string, task: () => Promise<Result>): Promise<Result>;
};

/** Holds requests back: at most `atOnce` are under way, and `perHost` to one host. A slow host keeps no other waiting. */
export function createHostQueue(atOnce: number, perHost: number): HostQueue {
  const underWay = new Map<string, number>();
  let total = 0;
  const waiting: Waiting[] = [];

  function startNext(): void {
    if (total >= atOnce) return;
    const index = waiting.findIndex(({ host }) => (underWay.get(host) ?? 0) < perHost);
    const [next] = index === -1 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    total += 1;
    underWay.set(next.host, (underWay.get(next.host) ?? 0) + 1);
    next.start();
  }

  function end(host: string): void {
    total -= 1;
    const left = (underWay.get(host) ?? 1) - 1;
    if (left === 0) underWay.delete(host);
    else underWay.set(host, left);
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
