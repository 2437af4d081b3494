import type { Logger } from "pino";
import { RpcFailure } from "../chain/rpc.ts";

/** Logs why a job's pass failed, which is then tried again: a failure of the chain's nodes by its reason, others as errors. */
export function logFailure(
  logger: Logger,
  about: Record<string, unknown>,
  error: unknown,
  message: string,
): void {
  if (error instanceof RpcFailure) logger.warn({ ...about, reason: error.message }, message);
  else logger.error({ ...about, err: error }, message);
}
