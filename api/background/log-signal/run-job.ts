import type { Logger } from "pino";
import { backOff } from "./back-off.ts";
import { logFailure } from "./log-failure.ts";

/** After a run this long the next failure counts as the first. */
const steadyMs = 60_000;

/** Runs a job, and again after each failure, until `signal` is aborted: what one job fails by ends no other. */
export async function runJob(
  job: string,
  run: () => Promise<void>,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    const startedAt = performance.now();
    try {
      return await run();
    } catch (error) {
      if (signal.aborted) return;
      failures = performance.now() - startedAt > steadyMs ? 1 : failures + 1;
      logFailure(logger, { job }, error, "job failed, starting it again");
      await backOff(failures, signal);
    }
  }
}
