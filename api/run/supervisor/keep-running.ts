import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { configurationExitCode } from "../config/config.ts";

/** One life of a part. */
export type Life = {
  exited: Promise<Exit>;
  /** Asks it to end, and insists after the given time. */
  stop(timeoutMs: number): Promise<void>;
};

export type Exit = { code: number | null; words: string };

/** A part of the service that is started anew whenever it dies. */
export type Part = { stop(timeoutMs: number): Promise<void> };

type Options = {
  name: string;
  launch: () => Promise<Life>;
  logger: Logger;
  /** Told when the part refuses its configuration: starting it again would not help. */
  onRefusal: () => void;
  firstDelayMs?: number;
};

const longestDelayMs = 30_000;
/** A part that lived this long has started well: its next death is a new story. */
const settledMs = 60_000;

/** Starts a part and keeps it alive, waiting twice as long after each early death. Throws when the first start does. */
export async function keepRunning(options: Options): Promise<Part> {
  const { name, launch, logger, onRefusal, firstDelayMs = 500 } = options;
  const stopping = new AbortController();
  let life = await launch();

  const launchAgain = async (delayMs: number): Promise<Life> => {
    await delay(delayMs, undefined, { signal: stopping.signal });
    const next = await launch().catch((error: unknown) => stillborn(String(error)));
    if (stopping.signal.aborted) await next.stop(1_000);
    return next;
  };
  const watch = async () => {
    let delayMs = firstDelayMs;
    for (;;) {
      const bornAt = Date.now();
      const { code, words } = await life.exited;
      if (stopping.signal.aborted) return;
      if (code === configurationExitCode) return onRefusal();
      if (Date.now() - bornAt > settledMs) delayMs = firstDelayMs;
      logger.error(`${name} ended (${words}); it starts again in ${delayMs / 1000} s`);
      life = await launchAgain(delayMs);
      delayMs = Math.min(delayMs * 2, longestDelayMs);
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

const stillborn = (words: string): Life => ({
  exited: Promise.resolve({ code: null, words }),
  stop: async () => {},
});
