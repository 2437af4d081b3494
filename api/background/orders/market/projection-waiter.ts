import type { Logger } from "pino";
import type { Database } from "#projections/log/database.ts";
import { readOrderBookPosition } from "#projections/orders/read-orders.ts";
import { openListener, createSignal, type Signal } from "#jobs/runner/signals.ts";

/** How long a response waits for the projection of what was just appended. */
const deadlineMs = 2_000;
/** Notifications may be lost. */
const pollMs = 100;

export type ProjectionWaiter = {
  /** Waits until the projections of orders have reached a position of the log; false after the deadline. */
  waitFor(position: bigint): Promise<boolean>;
  stop(): Promise<void>;
};

export function openProjectionWaiter(options: {
  db: Database;
  url: string;
  logger: Logger;
}): ProjectionWaiter {
  const { db, url, logger } = options;
  const waiting = new Set<Signal>();
  const aborter = new AbortController();
  const listener = openListener({
    url,
    logger,
    channels: ["projected"],
    onNotify: () => {
      for (const signal of waiting) signal.notify();
    },
  });
  return {
    async waitFor(position) {
      const signal = createSignal();
      waiting.add(signal);
      try {
        return await pollUntil(db, position, (ms) => signal.wait(ms, aborter.signal));
      } finally {
        waiting.delete(signal);
      }
    },
    async stop() {
      aborter.abort();
      await listener.stop();
    },
  };
}

async function pollUntil(
  db: Database,
  position: bigint,
  pause: (ms: number) => Promise<unknown>,
): Promise<boolean> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    if ((await readOrderBookPosition(db)) >= position) return true;
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return false;
    await pause(Math.min(leftMs, pollMs));
  }
}
