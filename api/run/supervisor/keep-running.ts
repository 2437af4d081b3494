import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { configurationExitCode } from "#ops/config/read-config.ts";

/** One run of a child process, from its start to its exit. */
export type ChildRun = {
  exited: Promise<Exit>;
  /** Asks it to exit, and kills it after the timeout. */
  stop(timeoutMs: number): Promise<void>;
};

export type Exit = { code: number | null; reason: string };

/** A process that is restarted whenever it exits. */
export type RestartedProcess = { stop(timeoutMs: number): Promise<void> };

type KeepRunningOptions = {
  name: string;
  start: () => Promise<ChildRun>;
  logger: Logger;
  /** Called when the process exits because of its configuration: a restart would not help. */
  onConfigurationError: () => void;
  firstDelayMs?: number;
};

const maxDelayMs = 30_000;
/** After a run this long the next exit is treated as the first. */
const stableAfterMs = 60_000;

/** Starts a process and restarts it with exponential backoff. Throws when the first start fails. */
export async function keepRunning(options: KeepRunningOptions): Promise<RestartedProcess> {
  const { name, start, logger, onConfigurationError, firstDelayMs = 500 } = options;
  const stopping = new AbortController();
  let run = await start();

  const restart = async (delayMs: number): Promise<ChildRun> => {
    await delay(delayMs, undefined, { signal: stopping.signal });
    const next = await start().catch((error: unknown) => failedRun(String(error)));
    if (stopping.signal.aborted) await next.stop(1_000);
    return next;
  };
  const restartOnExit = async () => {
    let delayMs = firstDelayMs;
    for (;;) {
      const startedAt = Date.now();
      const { code, reason } = await run.exited;
      if (stopping.signal.aborted) return;
      if (code === configurationExitCode) return onConfigurationError();
      if (Date.now() - startedAt > stableAfterMs) delayMs = firstDelayMs;
      logger.error({ process: name, reason, restartInMs: delayMs }, "process exited");
      run = await restart(delayMs);
      delayMs = Math.min(delayMs * 2, maxDelayMs);
    }
  };
  const restarting = restartOnExit().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });

  return {
    async stop(timeoutMs) {
      stopping.abort();
      await run.stop(timeoutMs);
      await restarting;
    },
  };
}

const failedRun = (reason: string): ChildRun => ({
  exited: Promise.resolve({ code: null, reason }),
  stop: async () => {},
});
