import type { Response } from "express";
import { reject } from "#projections/domain/rejection.ts";
import type { CallerStreams, StreamCaller } from "#api/accounts/caller-streams.ts";
import { sendRejection } from "../http/answer.ts";
import { limitRefusals } from "../http/limit.ts";

const retryAfterSeconds = 60;

const tooMany = reject(
  "rate_limited",
  "Too many open streams for this account, or for this network address if the caller has no account; close one",
);

/**
 * Counts a stream that is about to be sent; answers the request itself when its caller has as many as it may. The stream
 * ends when the credential that opened it is revoked or expires, or its account is suspended or deleted.
 */
export function countStreamOrRefuse(
  streams: CallerStreams | undefined,
  caller: StreamCaller,
  response: Response,
): boolean {
  // Who has left meanwhile closes nothing any more.
  if (response.destroyed) return false;
  if (streams === undefined) return true;
  const stream = streams.open(caller, () => response.end());
  if (stream === null) {
    response.set("Retry-After", String(retryAfterSeconds));
    sendRejection(response, limitRefusals[tooMany.rejected], tooMany);
    return false;
  }
  response.once("close", stream.close);
  return true;
}
