import type { RequestHandler, Response } from "express";
import { isRejection, type Rejection } from "../../projections/domain/rejection.ts";
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

/** Lets through who has requests left; every answer tells how many. OPTIONS asks for nothing. */
export function limitRequests(limiter: Limiter): RequestHandler {
  return async (request, response, next) => {
    if (request.method === "OPTIONS") {
      next();
      return;
    }
    const key = request.get("x-api-key");
    const admission = await limiter.admit({ address: callerAddress(request), key });
    tellAllowance(response, admission.allowance);
    if (isRejection(admission)) {
      refuse(response, admission);
      return;
    }
    keepRefund(response, admission.refund);
    next();
  };
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
