import type { Logger } from "pino";
import type { Database } from "../../../../projections/database.ts";
import { readBooksPosition } from "../../../../projections/reads/orders/books-position.ts";
import { openListener } from "../../log-signal/listener.ts";
import { createWake, type Wake } from "../../log-signal/wake.ts";

/** How long an answer waits to be able to tell what was just written. */
const deadlineMs = 2_000;
/** Notifications may be lost. */
const lookMs = 100;

export type ProjectedWaiter = {
  /** Waits until the books stand at a position of the log or beyond it; false when they do not come that far in time. */
  until(position: bigint): Promise<boolean>;
  stop(): Promise<void>;
};

export function openProjectedWaiter(options: {
  db: Database;
  url: string;
  logger: Logger;
}): ProjectedWaiter {
  const { db, url, logger } = options;
  const waiting = new Set<Wake>();
  const ending = new AbortController();
  const listener = openListener({
    url,
    logger,
    channels: ["projected"],
    onNotify: () => {
      for (const wake of waiting) wake.ring();
    },
  });
  return {
    async until(position) {
      const wake = createWake();
      waiting.add(wake);
      try {
        return await waitFor(db, position, (ms) => wake.wait(ms, ending.signal));
      } finally {
        waiting.delete(wake);
      }
    },
    async stop() {
      ending.abort();
      await listener.stop();
    },
  };
}

async function waitFor(
  db: Database,
  position: bigint,
  pause: (ms: number) => Promise<unknown>,
): Promise<boolean> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    if ((await readBooksPosition(db)) >= position) return true;
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return false;
    await pause(Math.min(leftMs, lookMs));
  }
}
