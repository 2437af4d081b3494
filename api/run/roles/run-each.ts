import { sleep } from "#api/background/log-signal/back-off.ts";

type RunEachOptions = {
  /** What is to run now. */
  readNames: () => Promise<readonly string[]>;
  /** Runs one until the signal is aborted. */
  run: (name: string, signal: AbortSignal) => Promise<void>;
  onError: (error: unknown) => void;
  signal: AbortSignal;
};

const pollMs = 2_000;

/** Runs something for each of some names that may change, until the signal. Rejects when one of the runs does. */
export async function runEach({ readNames, run, onError, signal }: RunEachOptions): Promise<void> {
  const running = new Map<string, { ending: AbortController; finished: Promise<void> }>();
  let onFailure = (_: unknown) => {};
  const failure = new Promise<never>((_, reject) => {
    onFailure = reject;
  });
  failure.catch(() => {});
  const start = (name: string) => {
    const ending = new AbortController();
    const finished = run(name, AbortSignal.any([signal, ending.signal]));
    finished.catch(onFailure);
    running.set(name, { ending, finished });
  };
  const update = async () => {
    const names = await readNames();
    const gone = [...running].filter(([name]) => !names.includes(name));
    for (const [name, { ending, finished }] of gone) {
      ending.abort();
      await finished;
      running.delete(name);
    }
    for (const name of names) if (!running.has(name) && !signal.aborted) start(name);
  };
  try {
    while (!signal.aborted) {
      await update().catch((error: unknown) => signal.aborted || onError(error));
      await Promise.race([sleep(pollMs, signal), failure]);
    }
  } finally {
    for (const { ending } of running.values()) ending.abort();
    await Promise.all([...running.values()].map(({ finished }) => finished.catch(() => {})));
  }
}
