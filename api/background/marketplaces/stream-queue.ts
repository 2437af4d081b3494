import type { SkippedEntry, StreamedOrder, StreamListener } from "./partner.ts";

/** An order from a stream event, its collection's slug, and how often it was fetched. */
export type QueuedOrder = { slug: string; order: StreamedOrder; attempts: number };

/**
 * First-in, first-out queue of orders from a stream, without duplicates. When it is full, further orders are counted as
 * skipped and their collections as missed.
 */
export function createStreamQueue(capacity: number) {
  const queued = new Map<string, QueuedOrder>();
  const missed = new Set<string>();
  let skipped: SkippedEntry[] = [];
  let onArrival = () => {};

  function skip(one: SkippedEntry): void {
    if (skipped.length < capacity) skipped.push(one);
  }

  function put(entry: QueuedOrder): void {
    const { chainId, orderHash, isNew } = entry.order;
    const key = `${chainId} ${orderHash}`;
    const before = queued.get(key);
    if (before === undefined && queued.size >= capacity) {
      missed.add(entry.slug);
      skip({ reason: "stream_overflow", path: entry.slug, concerns: orderHash });
      return;
    }
    const order = { ...entry.order, isNew: isNew || before?.order.isNew === true };
    queued.set(key, { ...entry, order });
    onArrival();
  }

  const listener: StreamListener = {
    onOrder: (slug, order) => put({ slug, order, attempts: 0 }),
    onSkipped: skip,
    onMissed: (slug) => void missed.add(slug),
  };
  return {
    listener,
    put,
    /** The oldest entry. */
    take(): QueuedOrder | null {
      const [first] = queued;
      if (first === undefined) return null;
      queued.delete(first[0]);
      return first[1];
    },
    /** Resolves when the queue is not empty, or when `signal` is aborted. */
    async waitForOrder(signal: AbortSignal): Promise<void> {
      if (queued.size > 0 || signal.aborted) return;
      await new Promise<void>((resolve) => {
        onArrival = () => {
          signal.removeEventListener("abort", onArrival);
          resolve();
        };
        signal.addEventListener("abort", onArrival);
      });
    },
    /** Missed collections and skipped entries since the last call. */
    takeMissed(): { missed: string[]; skipped: SkippedEntry[] } {
      const gaps = { missed: [...missed], skipped };
      missed.clear();
      skipped = [];
      return gaps;
    },
  };
}

export type StreamQueue = ReturnType<typeof createStreamQueue>;
