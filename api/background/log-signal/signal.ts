/** Many notify, one waits; a notification while nobody waits is kept for the next wait. */
export type Signal = {
  notify(): void;
  /**
   * Resolves at the next notification, after `atMostMs` without one, or when `signal` is aborted; to whether there was
   * a notification.
   */
  wait(atMostMs: number, signal: AbortSignal): Promise<boolean>;
};

/** Of a timer. */
const longestMs = 2 ** 31 - 1;

export function createSignal(): Signal {
  let isPending = false;
  let wakeUp: (() => void) | undefined;
  return {
    notify() {
      isPending = true;
      wakeUp?.();
    },
    async wait(atMostMs, signal) {
      if (!isPending && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.min(atMostMs, longestMs));
          wakeUp = () => {
            clearTimeout(timer);
            resolve();
          };
          signal.addEventListener("abort", wakeUp, { once: true });
        });
        if (wakeUp !== undefined) signal.removeEventListener("abort", wakeUp);
        wakeUp = undefined;
      }
      const wasNotified = isPending;
      isPending = false;
      return wasNotified;
    },
  };
}

/** Passes on at most one notification per `everyMs`, delayed by as much. */
export function createThrottledSignal(everyMs: number): Signal {
  const { notify: notifyNow, wait } = createSignal();
  let timer: NodeJS.Timeout | undefined;
  return {
    notify() {
      if (timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        notifyNow();
      }, everyMs);
      timer.unref();
    },
    wait,
  };
}
