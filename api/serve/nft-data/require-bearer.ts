import type { Request, RequestHandler, Response } from "express";
import { isRejection, type Rejection, reject } from "../../../projections/domain/rejection.ts";
import type { BearerTokens } from "../accounts/bearer-tokens.ts";
import { sendRejection } from "../http/answer.ts";
import { callerAddress } from "../http/caller-address.ts";
import { type Counter, type Limiter, letThrough } from "../http/limit.ts";

/** Codes of every endpoint that needs a token. */
export const bearerRefusals = {
  token_required: 401,
  invalid_token: 401,
  rate_limited: 429,
} as const;

export type BearerOptions = {
  readonly tokens: BearerTokens;
  /** Without it nothing is counted. */
  readonly limiter?: (Limiter & Counter) | undefined;
  /** Requests a minute of an account; 0: as many as it likes. */
  readonly perMinute: number;
};

/**
 * Lets through who has a token of an account and requests left, and counts for the account. Who has none counts for its
 * address as callers without a key do, so that guessing ends.
 */
export function requireBearer({ tokens, limiter, perMinute }: BearerOptions): RequestHandler {
  const identify = async (request: Request) => {
    const token = tokenOf(request.get("authorization"));
    return token === undefined ? noToken : ((await tokens.check(token)) ?? badToken);
  };
  const count = (request: Request, caller: Awaited<ReturnType<typeof identify>>) =>
    isRejection(caller)
      ? limiter?.admit({ address: callerAddress(request), key: undefined })
      : limiter?.count(`account ${caller.accountId}`, perMinute);

  return async (request, response, next) => {
    if (request.method === "OPTIONS") {
      next();
      return;
    }
    const caller = await identify(request);
    const admission = await count(request, caller);
    if (admission !== undefined && !letThrough(response, admission)) return;
    if (isRejection(caller)) refuse(response, caller);
    else next();
  };
}

/** The scheme's name is of any case (RFC 9110). Undefined: no bearer token is named. */
function tokenOf(authorization: string | undefined): string | undefined {
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(authorization ?? "")?.[1];
}

const noToken = reject(
  "token_required",
  "Authorization: Bearer <token> is needed; POST api/auth/login gives one",
);
const badToken = reject(
  "invalid_token",
  "This token was not given out here, has expired or was revoked; log in again",
);

/** RFC 6750: no error is named to who sends no token. */
function refuse(response: Response, rejection: Rejection<keyof typeof bearerRefusals>): void {
  const { rejected } = rejection;
  response.locals.route = "refused";
  const error = rejected === "invalid_token" ? `, error="${rejected}"` : "";
  response.set("WWW-Authenticate", `Bearer realm="account API"${error}`);
  sendRejection(response, bearerRefusals[rejected], rejection);
}
