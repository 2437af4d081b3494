import type { RequestHandler, Response } from "express";
import { isRejection, type Rejection } from "../../../projections/domain/rejection.ts";
import { sendRejection } from "./answer.ts";
import { callerAddress } from "./caller-address.ts";
import {
  type RateLimitState,
  type Refund,
  registerRefund,
  setRateLimitHeaders,
} from "./rate-limit-state.ts";

/** Codes that every rate-limited path may answer with. */
export const limitRefusals = {
  invalid_key: 401,
  revoked_key: 401,
  expired_key: 401,
  rate_limited: 429,
} as const;

type LimitCode = keyof typeof limitRefusals;

/** `rateLimit` is null where nothing is counted. */
export type Admitted = { readonly rateLimit: RateLimitState | null; readonly refund: Refund };

export type Refused = Rejection<LimitCode> & { readonly rateLimit: RateLimitState | null };

/** Counts requests and checks keys. Never throws: without its database it counts in the process. */
export type Limiter = {
  admit(caller: {
    readonly address: string;
    readonly key: string | undefined;
  }): Promise<Admitted | Refused>;
};

/** Counts requests of callers that are identified by other means than a key. `perMinute` 0: unlimited. */
export type Counter = {
  count(caller: string, perMinute: number): Promise<Admitted | Refused>;
};

/** Refuses callers over their limit; every response carries the limit headers. OPTIONS is not counted. */
export function limitRequests(limiter: Limiter): RequestHandler {
  return async (request, response, next) => {
    if (request.method === "OPTIONS") {
      next();
      return;
    }
    const key = request.get("x-api-key");
    const admission = await limiter.admit({ address: callerAddress(request), key });
    if (admitOrRefuse(response, admission)) next();
  };
}

/** Counts requests by network address only, ignoring keys. */
export function limitAddresses(limiter: Limiter): RequestHandler {
  return async (request, response, next) => {
    const address = callerAddress(request);
    const isFree = request.method === "OPTIONS";
    if (isFree || admitOrRefuse(response, await limiter.admit({ address, key: undefined }))) next();
  };
}

/** Sets the limit headers; answers the request itself when the caller is refused. */
export function admitOrRefuse(response: Response, admission: Admitted | Refused): boolean {
  setRateLimitHeaders(response, admission.rateLimit);
  if (isRejection(admission)) {
    refuse(response, admission);
    return false;
  }
  registerRefund(response, admission.refund);
  return true;
}

function refuse(response: Response, refused: Refused): void {
  const { rejected, message, rateLimit } = refused;
  response.locals.route = "refused";
  if (rejected === "rate_limited") {
    response.set("Retry-After", String(rateLimit?.resetSeconds ?? 1));
  } else {
    response.set("WWW-Authenticate", `ApiKey header="X-API-Key", error="${rejected}"`);
  }
  sendRejection(response, limitRefusals[rejected], { rejected, message });
}
