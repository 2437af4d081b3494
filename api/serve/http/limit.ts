import type { Request, RequestHandler, Response } from "express";
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
export type Admitted = {
  readonly rateLimit: RateLimitState | null;
  readonly refund: Refund;
  /** Counts the request as that many in all; refused when they do not fit. */
  readonly charge: Charge;
};

type Charge = (requests: number) => Promise<Pick<Admitted, "rateLimit"> | Refused>;

export type Refused = Rejection<LimitCode> & { readonly rateLimit: RateLimitState | null };

/** Counts requests and checks keys. Never throws: without its database it counts in the process. */
export type Limiter = {
  admit(caller: {
    readonly address: string;
    readonly key: string | undefined;
  }): Promise<Admitted | Refused>;
  /** Counts media, which pages load by themselves and without a key: by address, apart from requests. */
  admitMedia(address: string): Promise<Admitted | Refused>;
};

/** Counts requests of callers that are identified by other means than a key. `perMinute` 0: unlimited. */
export type Counter = {
  count(caller: string, perMinute: number): Promise<Admitted | Refused>;
};

const charges = new WeakMap<Response, Charge>();
const callers = new WeakMap<Response, string>();

/** Whom an admitted request is counted for; its address where nobody counts. */
export function callerOf(request: Request, response: Response): string {
  return callers.get(response) ?? callerAddress(request);
}

/** Refuses callers over their limit; every response carries the limit headers. OPTIONS is not counted. */
export function limitRequests(
  limiter: Limiter,
  isMedia: (path: string) => boolean = () => false,
): RequestHandler {
  return async (request, response, next) => {
    if (request.method === "OPTIONS") {
      next();
      return;
    }
    // An empty header is what a client sends that has no key.
    const key = request.get("x-api-key") || undefined;
    const address = callerAddress(request);
    const ofAddress = isMedia(request.baseUrl + request.path);
    const admission = await (ofAddress
      ? limiter.admitMedia(address)
      : limiter.admit({ address, key }));
    if (admitOrRefuse(response, admission, ofAddress ? address : (key ?? address))) next();
  };
}

/** Counts requests by network address only, ignoring keys. */
export function limitAddresses(limiter: Limiter): RequestHandler {
  return async (request, response, next) => {
    const address = callerAddress(request);
    if (request.method === "OPTIONS") {
      next();
      return;
    }
    const admission = await limiter.admit({ address, key: undefined });
    if (admitOrRefuse(response, admission, address)) next();
  };
}

/** Sets the limit headers; answers the request itself when the caller is refused. */
export function admitOrRefuse(
  response: Response,
  admission: Admitted | Refused,
  caller: string,
): boolean {
  setRateLimitHeaders(response, admission.rateLimit);
  if (isRejection(admission)) {
    refuse(response, admission);
    return false;
  }
  registerRefund(response, admission.refund);
  charges.set(response, admission.charge);
  callers.set(response, caller);
  return true;
}

/**
 * Counts an expensive request as several. Answers it itself when they do not fit the caller's limit; requests that are
 * not counted at all cost nothing.
 */
export async function chargeOrRefuse(response: Response, requests: number): Promise<boolean> {
  const charge = charges.get(response);
  if (charge === undefined || requests <= 1) return true;
  const charged = await charge(requests);
  setRateLimitHeaders(response, charged.rateLimit);
  if (isRejection(charged)) refuse(response, charged);
  return !isRejection(charged);
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
