import type { Waker } from "./job.ts";
import type { Signal } from "./signal.ts";

/** Milliseconds between polls, before and after notifications arrive. */
const pollMs = { unnotified: 250, notified: 3_000 };

/** A signal of work that may also come without a notification. */
export type PolledSignal = Waker & {
  /** To be called when there was work. */
  found(): void;
};

/**
 * Polls less often once notifications arrive, and as before when work was found without one: Ponder sends none while it
 * reads history, and a connection may be lost.
 */
export function createPolledSignal({ wait }: Pick<Signal, "wait">): PolledSignal {
  let areArriving = false;
  let wasNotified = false;
  return {
    found() {
      if (!wasNotified) areArriving = false;
    },
    async wait(atMostMs, signal) {
      const everyMs = areArriving ? pollMs.notified : pollMs.unnotified;
      wasNotified = await wait(Number.isFinite(atMostMs) ? atMostMs : everyMs, signal);
      if (wasNotified) areArriving = true;
    },
  };
}
