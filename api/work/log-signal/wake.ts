/** A bell that many may ring and one waits for; a ring while nobody waits is kept. */
export type Wake = {
  ring(): void;
  /** Settles at the next ring, after `atMostMs` without one, or when `signal` is aborted. */
  wait(atMostMs: number, signal: AbortSignal): Promise<void>;
};

export function createWake(): Wake {
  let rung = false;
  let answer: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      answer?.();
    },
    async wait(atMostMs, signal) {
      if (!rung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, atMostMs);
          answer = () => {
            clearTimeout(timer);
            resolve();
          };
          signal.addEventListener("abort", answer, { once: true });
        });
        if (answer !== undefined) signal.removeEventListener("abort", answer);
        answer = undefined;
      }
      rung = false;
    },
  };
}

/** For whom a moment later is early enough: rung often, it answers once in `everyMs`. */
export function createCalmWake(everyMs: number): Wake {
  const { ring, wait } = createWake();
  let timer: NodeJS.Timeout | undefined;
  return {
    ring() {
      if (timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        ring();
      }, everyMs);
      timer.unref();
    },
    wait,
  };
}
