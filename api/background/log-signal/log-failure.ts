import type { Logger } from "pino";
import { RpcFailure } from "../chain/rpc.ts";
import { PartnerFailed } from "../marketplaces/partner.ts";

/**
 * Logs why a job's pass failed, which is then tried again: a failure of the chain's nodes or of a
 * partner by its reason, others as errors.
 */
export function logFailure(
  logger: Logger,
  about: Record<string, unknown>,
  error: unknown,
  message: string,
): void {
  const isOutside = error instanceof RpcFailure || error instanceof PartnerFailed;
  if (isOutside) logger.warn({ ...about, reason: error.message }, message);
  else logger.error({ ...about, err: error }, message);
}
