import type { Logger } from "pino";
import { OutsideFailure } from "./job.ts";

/** Logs why a job's run failed, which is then tried again: a failure outside by its reason, others as errors. */
export function logFailure(
  logger: Logger,
  about: Record<string, unknown>,
  error: unknown,
  message: string,
): void {
  if (error instanceof OutsideFailure) logger.warn({ ...about, reason: error.message }, message);
  else logger.error({ ...about, err: error }, message);
}
