import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { configurationExitCode } from "../config/config.ts";

/** One life of a part. */
export type ChildRun = {
  exited: Promise<Exit>;
  /** Asks it to end, and insists after the given time. */
  stop(timeoutMs: number): Promise<void>;
};

export type Exit = { code: number | null; reason: string };

/** A part of the service that is started anew whenever it dies. */
export type RestartedProcess = { stop(timeoutMs: number): Promise<void> };

type KeepRunningOptions = {
  name: string;
  start: () => Promise<ChildRun>;
  logger: Logger;
  /** Told when the part refuses its configuration: starting it again would not help. */
  onConfigurationError: () => void;
  firstDelayMs?: number;
};

const maxDelayMs = 30_000;
/** A part that lived this long has started well: its next death is a new story. */
const stableAfterMs = 60_000;

/** Starts a part and keeps it alive, waiting twice as long after each early death. Throws when the first start does. */
export async function keepRunning(options: KeepRunningOptions): Promise<RestartedProcess> {
  const { name, start, logger, onConfigurationError, firstDelayMs = 500 } = options;
  const stopping = new AbortController();
  let life = await start();

  const startAgain = async (delayMs: number): Promise<ChildRun> => {
    await delay(delayMs, undefined, { signal: stopping.signal });
    const next = await start().catch((error: unknown) => failedRun(String(error)));
    if (stopping.signal.aborted) await next.stop(1_000);
    return next;
  };
  const watch = async () => {
    let delayMs = firstDelayMs;
    for (;;) {
      const startedAt = Date.now();
      const { code, reason } = await life.exited;
      if (stopping.signal.aborted) return;
      if (code === configurationExitCode) return onConfigurationError();
      if (Date.now() - startedAt > stableAfterMs) delayMs = firstDelayMs;
      logger.error(`${name} ended (${reason}); it starts again in ${delayMs / 1000} s`);
      life = await startAgain(delayMs);
      delayMs = Math.min(delayMs * 2, maxDelayMs);
    }
  };
  const watching = watch().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });

  return {
    async stop(timeoutMs) {
      stopping.abort();
      await life.stop(timeoutMs);
      await watching;
    },
  };
}

const failedRun = (words: string): ChildRun => ({
  exited: Promise.resolve({ code: null, words }),
  stop: async () => {},
});
