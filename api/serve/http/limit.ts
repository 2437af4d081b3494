import type { RequestHandler, Response } from "express";
import { isRejection, type Rejection } from "../../../projections/domain/rejection.ts";
import { sendRejection } from "./answer.ts";
import { callerAddress } from "./caller-address.ts";
import { type Allowance, keepRefund, type Refund, tellAllowance } from "./refund.ts";

/** Codes that a limited path answers with, whatever is asked there. */
export const limitRefusals = {
  invalid_key: 401,
  revoked_key: 401,
  expired_key: 401,
  rate_limited: 429,
} as const;

type LimitCode = keyof typeof limitRefusals;

/** `allowance` is null where nothing is counted. */
export type Admitted = { readonly allowance: Allowance | null; readonly refund: Refund };

export type Refused = Rejection<LimitCode> & { readonly allowance: Allowance | null };

/** Counts requests, and knows keys. Its own troubles are its own: it always answers. */
export type Limiter = {
  admit(caller: {
    readonly address: string;
    readonly key: string | undefined;
  }): Promise<Admitted | Refused>;
};

/** Counts requests of callers who are known by other means than a key. `perMinute` 0: as many as they like. */
export type Counter = {
  count(caller: string, perMinute: number): Promise<Admitted | Refused>;
};

/** Lets through who has requests left; every answer tells how many. OPTIONS asks for nothing. */
export function limitRequests(limiter: Limiter): RequestHandler {
  return async (request, response, next) => {
    if (request.method === "OPTIONS") {
      next();
      return;
    }
    const key = request.get("x-api-key");
    const admission = await limiter.admit({ address: callerAddress(request), key });
    if (letThrough(response, admission)) next();
  };
}

/** Counts requests of network addresses alone, whatever keys they come with. */
export function limitAddresses(limiter: Limiter): RequestHandler {
  return async (request, response, next) => {
    const address = callerAddress(request);
    const isFree = request.method === "OPTIONS";
    if (isFree || letThrough(response, await limiter.admit({ address, key: undefined }))) next();
  };
}

/** Tells what is left; whoever has nothing left is answered here. */
export function letThrough(response: Response, admission: Admitted | Refused): boolean {
  tellAllowance(response, admission.allowance);
  if (isRejection(admission)) {
    refuse(response, admission);
    return false;
  }
  keepRefund(response, admission.refund);
  return true;
}

function refuse(response: Response, refused: Refused): void {
  const { rejected, message, allowance } = refused;
  response.locals.route = "refused";
  if (rejected === "rate_limited") {
    response.set("Retry-After", String(allowance?.resetSeconds ?? 1));
  } else {
    response.set("WWW-Authenticate", `ApiKey header="X-API-Key", error="${rejected}"`);
  }
  sendRejection(response, limitRefusals[rejected], { rejected, message });
}
