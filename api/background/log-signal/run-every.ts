import { sleep } from "./back-off.ts";

type Options = { readonly signal: AbortSignal; readonly onError: (error: unknown) => void };

/** Does work now and `intervalMs` after each time that it ended, until `signal` is aborted. A failure ends nothing. */
export async function runEvery(
  intervalMs: number,
  work: () => Promise<unknown>,
  { signal, onError }: Options,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      onError(error);
    }
    await sleep(intervalMs, signal);
  }
}
