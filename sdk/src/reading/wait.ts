/** Timers with more than this fire at once. */
const mostMs = 2 ** 31 - 1;

/** Waits, 24 days at most; rejects with the signal's reason as soon as it is aborted. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(
      () => {
        signal.removeEventListener("abort", stop);
        resolve();
      },
      Math.min(ms, mostMs),
    );
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

/** What the work gives; rejects with the signal's reason as soon as it is aborted. */
export function abortable<Value>(
  work: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Doubles with each failure, between half of it and all of it, so that callers do not come back together. */
export function backOff(failures: number, firstMs: number, mostMs: number): number {
  return Math.min(mostMs, firstMs * 2 ** failures) * (0.5 + Math.random() / 2);
}
