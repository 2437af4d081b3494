import type { Ear, HeardOrder, Skipped } from "./partner.ts";

/** An order that was heard of under a collection's slug, and how often it was asked for since. */
export type Heard = { slug: string; order: HeardOrder; asked: number };

/**
 * Orders that a stream tells of, in turn, until somebody reads them. An order waits once, whatever is told of it
 * meanwhile. What comes while it is full is counted as left out, and its collection as missed.
 */
export function createHeardInbox(atMost: number) {
  const waiting = new Map<string, Heard>();
  const missed = new Set<string>();
  let skipped: Skipped[] = [];
  let wake = () => {};

  function skip(one: Skipped): void {
    if (skipped.length < atMost) skipped.push(one);
  }

  function put(heard: Heard): void {
    const { chainId, orderHash, isNew } = heard.order;
    const key = `${chainId} ${orderHash}`;
    const before = waiting.get(key);
    if (before === undefined && waiting.size >= atMost) {
      missed.add(heard.slug);
      skip({ reason: "stream_overflow", path: heard.slug, standsFor: orderHash });
      return;
    }
    const order = { ...heard.order, isNew: isNew || before?.order.isNew === true };
    waiting.set(key, { ...heard, order });
    wake();
  }

  const ear: Ear = {
    onHeard: (slug, order) => put({ slug, order, asked: 0 }),
    onSkipped: skip,
    onMissed: (slug) => void missed.add(slug),
  };
  return {
    ear,
    put,
    /** The one that waits longest. */
    take(): Heard | null {
      const [first] = waiting;
      if (first === undefined) return null;
      waiting.delete(first[0]);
      return first[1];
    },
    /** Settles when something waits, or with the signal. */
    async arrival(signal: AbortSignal): Promise<void> {
      if (waiting.size > 0 || signal.aborted) return;
      await new Promise<void>((resolve) => {
        wake = () => {
          signal.removeEventListener("abort", wake);
          resolve();
        };
        signal.addEventListener("abort", wake);
      });
    },
    /** What was missed and left out since the last call. */
    takeNotes(): { missed: string[]; skipped: Skipped[] } {
      const notes = { missed: [...missed], skipped };
      missed.clear();
      skipped = [];
      return notes;
    },
  };
}

export type HeardInbox = ReturnType<typeof createHeardInbox>;
