import type { Request, RequestHandler, Response } from "express";
import { z } from "zod";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { BearerTokens } from "../accounts/bearer-tokens.ts";
import type { CredentialUse } from "../accounts/places.ts";
import { sendRejection } from "../http/answer.ts";
import { admitOrRefuse, type Counter, type Limiter } from "../http/limit.ts";
import { callerAddress } from "../http/request.ts";
import { text } from "../v1/parameters.ts";
import { time } from "../v1/wire.ts";
import { accountRoute } from "./context.ts";

export const login = accountRoute(
  {
    method: "post",
    path: "/api/auth/login",
    operationId: "login",
    tag: "Authentication",
    reads: "nothing",
    summary: "A bearer token for an account's e-mail address and client key",
    body: z.strictObject({ email: text(320), client_key: text(200) }),
    data: z.object({
      token: z.string().meta({ description: "For `Authorization: Bearer`." }),
      expires_at: time.meta({ description: "30 days from now; log in again then." }),
    }),
    refuses: { bad_structure: 422, invalid_credentials: 401, rate_limited: 429 },
    isOpen: true,
  },
  async ({ body, address }, { tokens }) => {
    const issued = await tokens.issue({ email: body.email, clientKey: body.client_key }, address);
    if (isRejection(issued)) return issued;
    return { data: { token: issued.token, expires_at: issued.expiresAt.toISOString() } };
  },
);

/** Codes of every endpoint that requires a token. */
export const bearerRefusals = {
  token_required: 401,
  invalid_token: 401,
  rate_limited: 429,
} as const;

export type BearerOptions = {
  readonly tokens: BearerTokens;
  /** Without it there are no rate limits. */
  readonly limiter?: (Limiter & Counter) | undefined;
  /** Requests per minute of an account; 0: unlimited. */
  readonly perMinute: number;
  /** Called for every request with a valid token. */
  readonly onUse?: ((use: CredentialUse) => void) | undefined;
};

type Bearer = { readonly id: number; readonly accountId: number };

const bearers = new WeakMap<Response, Bearer>();

/** The token of an admitted request. */
export function bearerOf(response: Response): Bearer {
  const bearer = bearers.get(response);
  if (bearer === undefined) throw new Error("the request has no token");
  return bearer;
}

/**
 * Requires a valid token and counts the request for its account. A request without a valid token counts for its
 * address, like one without a key, which limits guessing.
 */
export function requireBearer({
  tokens,
  limiter,
  perMinute,
  onUse,
}: BearerOptions): RequestHandler {
  const identify = async (request: Request) => {
    const token = parseBearerToken(request.get("authorization"));
    return token === undefined ? noToken : ((await tokens.check(token)) ?? badToken);
  };
  const nameOf = (request: Request, caller: Awaited<ReturnType<typeof identify>>) =>
    isRejection(caller) ? callerAddress(request) : `account ${caller.accountId}`;
  const count = (name: string, isAccount: boolean) =>
    isAccount
      ? limiter?.count(name, perMinute)
      : limiter?.admit({ address: name, ip: null, key: undefined });

  return async (request, response, next) => {
    if (request.method === "OPTIONS") {
      next();
      return;
    }
    const caller = await identify(request);
    const name = nameOf(request, caller);
    const admission = await count(name, !isRejection(caller));
    if (admission !== undefined && !admitOrRefuse(response, admission)) return;
    if (isRejection(caller)) {
      refuse(response, caller);
      return;
    }
    bearers.set(response, caller);
    const { accountId } = caller;
    onUse?.({ accountId, address: callerAddress(request), credential: "a bearer token" });
    next();
  };
}

/** The scheme is case-insensitive (RFC 9110). Undefined: no bearer token. */
function parseBearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(authorization ?? "")?.[1];
}

const noToken = reject(
  "token_required",
  "Authorization: Bearer <token> is required; get one from POST api/auth/login",
);
const badToken = reject("invalid_token", "This token is unknown, expired or revoked; log in again");

/** RFC 6750 §3.1: a request without a token gets no error code in the challenge. */
function refuse(response: Response, rejection: Rejection<keyof typeof bearerRefusals>): void {
  const { rejected } = rejection;
  response.locals.route = "refused";
  const error = rejected === "invalid_token" ? `, error="${rejected}"` : "";
  response.set("WWW-Authenticate", `Bearer realm="account API"${error}`);
  sendRejection(response, bearerRefusals[rejected], rejection);
}
