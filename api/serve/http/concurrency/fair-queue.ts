/** Requests that wait, a queue per caller, served round robin. */
export type FairQueue<Waiting> = {
  readonly size: number;
  add(caller: string, waiting: Waiting): void;
  /** The oldest request of the next caller, of those that may start. */
  next(mayStart: (oldest: Waiting) => boolean): Waiting | undefined;
  /** The newest request of the caller with the most. */
  newestOfLongestQueue(): Waiting | undefined;
  remove(caller: string, waiting: Waiting): void;
};

export function openFairQueue<Waiting>(): FairQueue<Waiting> {
  // A Map keeps insertion order: the first caller is the one that is served next.
  const queues = new Map<string, Set<Waiting>>();
  let size = 0;

  function remove(caller: string, waiting: Waiting): void {
    const queue = queues.get(caller);
    if (queue?.delete(waiting) !== true) return;
    size -= 1;
    if (queue.size === 0) queues.delete(caller);
  }
  return {
    get size() {
      return size;
    },
    add(caller, waiting) {
      const queue = queues.get(caller) ?? new Set();
      queues.set(caller, queue.add(waiting));
      size += 1;
    },
    next(mayStart) {
      for (const [caller, queue] of queues) {
        const [oldest] = queue;
        if (oldest === undefined || !mayStart(oldest)) continue;
        remove(caller, oldest);
        if (queues.delete(caller)) queues.set(caller, queue);
        return oldest;
      }
      return undefined;
    },
    newestOfLongestQueue() {
      const [longest] = [...queues.values()].toSorted((one, other) => other.size - one.size);
      return longest === undefined ? undefined : [...longest].at(-1);
    },
    remove,
  };
}
