import type { Logger } from "pino";

/** A role that failed stops within this time, or is left as it is: the process ends anyway. */
const stopMs = 5_000;

/**
 * Waits for the stop of a role that failed, but not for ever: closing a pool waits for statements that a database which
 * vanished without a word never answers, and nobody would start the process again.
 */
export async function stopInTime(stop: () => Promise<void>, logger: Logger): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      logger.warn({ stopMs }, "failed role did not stop in time");
      resolve();
    }, stopMs);
  });
  const stopped = stop();
  // It may fail after it was given up.
  stopped.catch(() => undefined);
  await Promise.race([stopped, late]).finally(() => clearTimeout(timer));
}
